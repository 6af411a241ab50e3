import PatchGraph
import PatchMedia

/// `lookupTable`: a colour table as a picture, laid out as `ColorTable.layout` says.
///
/// Options: `file` (none gives the identity), `layout` of pictures, `precision`: "bytes" for `rgba`, which one load reads, or
/// "halves" for `half4`, which has 11 bits and colours beyond 0…1.
/// Thread-safety: immutable.
final class LookupOperator: NativeOperator {
    static func kind(_ tables: LookupTables) -> OperatorKind {
        OperatorKind(
            name: "lookupTable", summary: "A colour table as a picture.", inputs: 0...0, formats: []
        ) { try LookupOperator($0.options, tables) }
    }

    private let frame: Frame
    var output: VideoFormat { frame.format }

    private init(_ options: NodeOptions, _ tables: LookupTables) throws {
        let layout = options.string("layout").flatMap { ColorTable.PictureLayout(rawValue: $0) } ?? .hald
        let table = try options.string("file").map { try tables.table($0, layout: layout) } ?? .identity
        frame = table.picture(options.string("precision") == "halves" ? .half4 : .rgba)
    }

    func process(_ call: OperatorCall) -> OperatorResult { .frame(frame) }
}
