import Foundation
import PatchGraph
import PatchMedia
import PatchTesting
import PatchText
import Testing

/// What a source said.
final class TextEvents: Sendable {
    private let events = Monitor<[NodeEvent]>([])
    func add(_ event: NodeEvent) { events.notify { $0.append(event) } }

    var notices: [String] {
        events.withLock { $0.compactMap { if case .notice(let text) = $0 { text } else { nil } } }
    }
    var problems: [PatchError] {
        events.withLock { $0.compactMap { if case .problem(let error) = $0 { error } else { nil } } }
    }
}

enum TextRun {
    static func source(
        _ string: String, _ options: [String: OptionValue] = [:], events: TextEvents = TextEvents()
    ) throws -> TextSource {
        guard case .source(let make)? = TextSource.kinds.first?.factory,
            let source = try make(
                NodeOptions(options.merging(["string": .string(string)]) { $1 }),
                NodeEnvironment(
                    nodeID: "title", location: SourceLocation(file: "test.lua", line: 7), isOffline: true,
                    report: { events.add($0) })) as? TextSource
        else { throw TestProblem("text is no source") }
        return source
    }

    static func frame(of source: TextSource, tick: Int64 = 0) throws -> Frame {
        guard
            case .frame(let frame) = source.frame(
                at: Tick(index: tick, rate: FrameRate(30), hostTime: 0, isOffline: true))
        else { throw TestProblem("no frame") }
        return frame
    }

    /// The picture of a text.
    static func draw(
        _ string: String, _ options: [String: OptionValue] = [:], events: TextEvents = TextEvents()
    ) throws -> Frame {
        let source = try source(string, options, events: events)
        defer { source.stop() }
        let format = try source.open()
        let frame = try frame(of: source)
        #expect(format.video == frame.format)
        return frame
    }

    /// The error of a text that cannot be drawn.
    static func failure(_ string: String, _ options: [String: OptionValue] = [:]) -> PatchError? {
        do {
            _ = try draw(string, options)
            return nil
        } catch { return error as? PatchError }
    }
}

/// A picture of one number a pixel, for comparisons.
struct GrayPicture {
    var width: Int
    var height: Int
    var values: [Float]

    subscript(x: Int, y: Int) -> Float {
        (0..<width).contains(x) && (0..<height).contains(y) ? values[y * width + x] : 0
    }

    /// One channel (0…3 as R, G, B, A) of a frame.
    init(_ frame: Frame, channel: Int) {
        width = frame.width
        height = frame.height
        values = []
        let order = [2, 1, 0, 3]
        for y in 0..<height {
            for x in 0..<width {
                values.append(
                    Float(frame.plane(0).row(y).load(fromByteOffset: 4 * x + order[channel], as: UInt8.self)))
            }
        }
    }

    /// One channel of interleaved R'G'B' bytes.
    init(width: Int, height: Int, rgb: [UInt8], channel: Int) {
        self.width = width
        self.height = height
        values = (0..<width * height).map { Float(rgb[3 * $0 + channel]) }
    }

    var sum: Float { values.reduce(0, +) }

    /// The smallest rectangle with everything above `level` in it; nil when there is nothing.
    func bounds(above level: Float = 0) -> (left: Int, top: Int, right: Int, bottom: Int)? {
        var bounds: (left: Int, top: Int, right: Int, bottom: Int)?
        for y in 0..<height {
            for x in 0..<width where self[x, y] > level {
                let b = bounds ?? (x, y, x, y)
                bounds = (min(b.left, x), min(b.top, y), max(b.right, x), max(b.bottom, y))
            }
        }
        return bounds
    }

    /// The best correlation of the two pictures when one is moved by up to two pixels each way: 1 is equal.
    func likeness(to other: GrayPicture) -> Float {
        guard let a = bounds(above: 20), let b = other.bounds(above: 20) else { return 0 }
        var best: Float = 0
        for dy in -2...2 {
            for dx in -2...2 {
                let (shiftX, shiftY) = (b.left - a.left + dx, b.top - a.top + dy)
                var (product, own, others): (Float, Float, Float) = (0, 0, 0)
                for y in a.top - 4...a.bottom + 4 {
                    for x in a.left - 4...a.right + 4 {
                        let (u, v) = (self[x, y], other[x + shiftX, y + shiftY])
                        product += u * v
                        own += u * u
                    }
                }
                for value in other.values { others += value * value }
                best = max(best, product / (own * others).squareRoot())
            }
        }
        return best
    }
}

/// pango-view of Pango's own tools.
enum PangoView {
    /// Light text on black, R'G'B'.
    static func draw(
        _ text: String, font: String, size: Int, arguments: [String] = []
    ) throws -> (width: Int, height: Int, rgb: [UInt8]) {
        let folder = try TemporaryDirectory()
        let file = folder.file("reference.png")
        try Program.run(
            "pango-view",
            [
                "--no-display", "--font=\(font) \(size)", "--dpi=72", "--hinting=none", "--hint-metrics=off",
                "--antialias=gray", "--subpixel-positions", "--margin=8", "--background=black", "--foreground=white",
                "--text=\(text)", "--output=\(file)",
            ] + arguments)
        let bytes = try file.contentsOfFile()
        func number(_ at: Int) -> Int { bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
        // The PNG header has the size at bytes 16 and 20.
        let rgb = try Program.run(
            "ffmpeg", ["-v", "error", "-i", file, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
        ).output
        return (number(16), number(20), rgb)
    }
}
