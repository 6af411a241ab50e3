/// Where in a script something was said.
public struct SourceLocation: Hashable, Sendable, CustomStringConvertible {
    /// Path as the person named it, relative to the graph's folder for modules.
    public var file: String
    /// 1-based; 0 when only the file is known.
    public var line: Int

    public init(file: String, line: Int) {
        self.file = file
        self.line = line
    }

    public var description: String { line > 0 ? "\(file):\(line)" : file }
}

/// What went wrong, where, and what to do: the one error type that people see.
///
/// Thread-safety: a value.
public struct PatchError: Error, Sendable, CustomStringConvertible {
    /// The kind of a failure. An open set: compare with `==`, expect unknown ones.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The script has a syntax or run-time error, or used a name, type or range wrongly.
        public static let script = Code(rawValue: "script")
        /// The script ran out of its time, instruction or memory budget.
        public static let budget = Code(rawValue: "budget")
        /// The graph cannot be built as wired: ports, cycles, sizes.
        public static let graph = Code(rawValue: "graph")
        /// A kernel cannot be compiled.
        public static let kernel = Code(rawValue: "kernel")
        /// A file, device or address is missing or cannot be opened.
        public static let notFound = Code(rawValue: "notFound")
        /// Media is corrupt, empty, or of a kind that cannot be read or written.
        public static let media = Code(rawValue: "media")
        /// A network peer refused, vanished or timed out.
        public static let network = Code(rawValue: "network")
        /// Writing failed: permission, full disk, closed pipe.
        public static let output = Code(rawValue: "output")
        /// The command line or the host program asked for something impossible.
        public static let usage = Code(rawValue: "usage")
        /// This build or machine lacks something: a display, an encoder, a CPU feature.
        public static let unavailable = Code(rawValue: "unavailable")
    }

    public var code: Code
    /// What is wrong, with the value that is wrong in it. One sentence, no final full stop needed.
    public var message: String
    /// What to do about it: a command, a legal range, the nearest name. Empty when nothing helps.
    public var remedy: String
    /// The node's name, when one is concerned.
    public var node: String?
    /// The line of the script, when one is concerned.
    public var location: SourceLocation?
    /// The library's own words (FFmpeg, LLVM, the system), when there are any.
    public var cause: String?

    public init(
        _ code: Code, _ message: String, remedy: String = "", node: String? = nil, at location: SourceLocation? = nil,
        cause: String? = nil
    ) {
        self.code = code
        self.message = message
        self.remedy = remedy
        self.node = node
        self.location = location
        self.cause = cause
    }

    /// The same error with node and place filled in where it had none.
    public func placed(node: String? = nil, at location: SourceLocation? = nil) -> PatchError {
        var copy = self
        if copy.node == nil { copy.node = node }
        if copy.location == nil { copy.location = location }
        return copy
    }

    /// `file:line: node 'name': message (cause); remedy` on one line.
    public var description: String {
        var text = location.map { "\($0): " } ?? ""
        if let node { text += "node '\(node)': " }
        text += message
        if let cause, !cause.isEmpty { text += " (\(cause))" }
        if !remedy.isEmpty { text += "; \(remedy)" }
        return text
    }
}
