internal import CFFmpeg
import Glibc
import PatchMedia

/// The filters of a chain in libavfilter's language, found before libavfilter sees it: creating some filters opens files.
///
/// Words are cut by libavutil's own av_get_token with the ends that libavfilter's parser uses, so that quotes and
/// backslashes cannot make a name look different here and there.
struct ChainSyntax {
    struct Filter {
        /// Such as `hqdn3d`.
        var name: String
        /// As written, perhaps with an id: `hqdn3d@first`.
        var instance: String
    }
    private(set) var filters: [Filter] = []
    /// Labels that are written before a filter, and those after one.
    private(set) var inputLabels: [String] = []
    private(set) var outputLabels: [String] = []

    private static let blanks: Set<UInt8> = [32, 9, 10, 13]

    /// - Throws: `PatchError` that says where the text stops making sense.
    init(_ text: String) throws {
        guard !text.utf8.contains(0) else {
            throw PatchError(.script, "the ffmpeg chain has a zero byte in it", remedy: "write text only")
        }
        guard text.utf8.count <= 8192 else {
            throw PatchError(
                .budget, "the ffmpeg chain is longer than 8192 bytes", remedy: "split it into several nodes")
        }
        try text.withCString { try parse($0) }
        guard !filters.isEmpty else {
            throw PatchError(.script, "the ffmpeg chain is empty", remedy: "name a filter: \"hqdn3d\"")
        }
    }

    private mutating func parse(_ start: UnsafePointer<CChar>) throws {
        var position = start
        func here() -> UInt8 { UInt8(bitPattern: position.pointee) }
        func skipBlanks() { while Self.blanks.contains(here()) { position += 1 } }
        func token(_ ends: String) -> String {
            var cursor: UnsafePointer<CChar>? = position
            let word = av_get_token(&cursor, ends)
            defer { av_free(word) }
            if let cursor { position = cursor }
            return word.map { String(cString: $0) } ?? ""
        }
        func wrong(_ what: String) -> PatchError {
            PatchError(
                .script, "the ffmpeg chain \(what)", remedy: "write it as for `ffmpeg -vf`, or -af for sound",
                cause: here() == 0 ? "at its end" : "before '\(String(cString: position).prefix(40))'")
        }
        func labels() throws -> [String] {
            var names: [String] = []
            while here() == UInt8(ascii: "[") {
                position += 1
                let name = token("]")
                guard !name.isEmpty, here() == UInt8(ascii: "]") else {
                    throw wrong("has a label without a name or end")
                }
                position += 1
                names.append(name)
                skipBlanks()
            }
            return names
        }
        skipBlanks()
        if strncmp(position, "sws_flags=", 10) == 0 {
            while here() != 0, here() != UInt8(ascii: ";") { position += 1 }
            guard here() != 0 else { throw wrong("has no ; after sws_flags") }
            position += 1
        }
        while true {
            skipBlanks()
            inputLabels += try labels()
            let instance = token("=,;[")
            guard !instance.isEmpty else { throw wrong("has no filter name where one must be") }
            if here() == UInt8(ascii: "=") {
                position += 1
                _ = token("[],;")
            }
            let name = instance.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false).first ?? ""
            filters.append(Filter(name: String(name), instance: instance))
            outputLabels += try labels()
            skipBlanks()
            let separator = here()
            if separator == 0 { return }
            guard separator == UInt8(ascii: ",") || separator == UInt8(ascii: ";") else {
                throw wrong("goes wrong")
            }
            position += 1
        }
    }

    /// - Throws: `PatchError` for a filter that does not exist or that scripts may not use.
    /// - Parameter rules: those for pictures or those for sound.
    func check(_ rules: any ChainRules.Type) throws {
        for filter in filters {
            guard let known = avfilter_get_by_name(filter.name) else {
                let near = Spelling.nearest(to: filter.name, in: rules.allowed)
                throw PatchError(
                    .script, "libavfilter has no filter '\(filter.name)'",
                    remedy: near.map { "did you mean '\($0)'?" } ?? "`patchbay filters --ffmpeg` lists them")
            }
            let hasInputs =
                avfilter_filter_pad_count(known, 0) > 0
                || known.pointee.flags & AVFILTER_FLAG_DYNAMIC_INPUTS != 0
            if let refusal = rules.refusal(of: filter.name, hasInputs: hasInputs) {
                throw PatchError(
                    .script, "the libavfilter filter '\(filter.name)' may not be used in a graph: \(refusal.reason)",
                    remedy: refusal.remedy)
            }
        }
    }
}

/// Which of libavfilter's filters scripts may use.
protocol ChainRules {
    /// Names of the filters that may be used.
    static var allowed: Set<String> { get }
    /// Why a filter may not be used; nil when it may.
    static func refusal(of name: String, hasInputs: Bool) -> (reason: String, remedy: String)?
}
