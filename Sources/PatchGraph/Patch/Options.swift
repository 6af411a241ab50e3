import PatchMedia

/// A text that must never be shown: a stream key or passphrase, or a URL with one inside.
///
/// Thread-safety: a value.
public struct Secret: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The real text. Hand it to the library that needs it and to nobody else.
    public let value: String
    /// What people see instead, such as `rtmp://host/live/<secret STREAM_KEY>`.
    public let redacted: String

    public init(value: String, redacted: String) {
        self.value = value
        self.redacted = redacted
    }

    /// An address that somebody wrote in the open: a password (`user:password@`) and the values of queries that hold one
    /// (`passphrase=`, `password=`, `token=`, `key=`, `streamkey=`) are hidden all the same.
    public init(url: String) {
        value = url
        guard let colon = url.firstIndex(of: ":"), url[colon...].hasPrefix("://") else {
            redacted = url
            return
        }
        let start = url.index(colon, offsetBy: 3)
        let end = url[start...].firstIndex { "/?#".contains($0) } ?? url.endIndex
        var host = url[start..<end]
        var shown = String(url[..<start])
        if let at = host.lastIndex(of: "@") {
            if let password = host[..<at].firstIndex(of: ":") {
                shown += host[..<password] + ":<secret>"
            } else {
                shown += host[..<at]
            }
            host = host[at...]
        }
        shown += host
        let question = url[end...].firstIndex(of: "?") ?? url.endIndex
        shown += url[end..<question]
        if question < url.endIndex {
            let parts = url[url.index(after: question)...].split(separator: "&", omittingEmptySubsequences: false)
            shown +=
                "?"
                + parts.map { part in
                    guard let equals = part.firstIndex(of: "=") else { return String(part) }
                    let isHidden = Secret.hiddenQueries.contains(part[..<equals].lowercased())
                    return isHidden ? part[...equals] + "<secret>" : String(part)
                }.joined(separator: "&")
        }
        redacted = shown
    }
    private static let hiddenQueries: Set<String> = ["passphrase", "password", "token", "key", "streamkey"]

    public var description: String { redacted }
    public var customMirror: Mirror { Mirror(self, children: ["redacted": redacted]) }
}

/// A value given to a node when it is made. Changing one makes a new node.
///
/// Thread-safety: a value.
public enum OptionValue: Hashable, Sendable {
    case number(Double)
    case bool(Bool)
    case string(String)
    /// Sizes (width, height), points, regions (x, y, width, height) and colours (r, g, b, a in 0…1).
    case vector([Double])
    case list([String])
    /// Named values that belong together, such as an outline's width and colour.
    case record([String: OptionValue])
    case secret(Secret)
}

extension OptionValue: CustomStringConvertible {
    /// As a person would write it; secrets stay hidden.
    public var description: String {
        switch self {
        case .number(let number):
            number == number.rounded() && abs(number) < 1e15 ? "\(Int64(number))" : "\(number)"
        case .bool(let bool): "\(bool)"
        case .string(let string): string
        case .vector(let numbers): numbers.map { OptionValue.number($0).description }.joined(separator: ", ")
        case .list(let strings): strings.joined(separator: ", ")
        case .record(let values):
            values.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)" }.joined(separator: ", ")
        case .secret(let secret): secret.redacted
        }
    }
}

/// What an option may be, so that whoever builds a patch can check it and say what is legal.
///
/// Thread-safety: a value.
public struct OptionSchema: Hashable, Sendable {
    /// The form of a value. The script host turns what was written into the matching `OptionValue`.
    public enum Form: Hashable, Sendable {
        /// `.number` within the range.
        case number(ClosedRange<Double>)
        /// `.number`, whole, within the range.
        case integer(ClosedRange<Int>)
        case bool
        case string
        /// One of these strings.
        case choice([String])
        /// "640x480" or {640, 480}: `.vector([width, height])`, each side 1…16384.
        case size
        /// "#rgb", "#rrggbb", "#rrggbbaa", a table of 3 or 4 numbers in 0…1: `.vector([r, g, b, a])`.
        case color
        /// {x, y, width, height}: `.vector`.
        case region
        /// {x, y}: `.vector`.
        case point
        /// A path below the graph's folder: `.string` with the absolute path, which exists.
        case file
        /// A path that will be written; relative paths are below the working directory: `.string`.
        case outputFile
        /// A URL, possibly with secrets inside: `.string` or `.secret`.
        case url
        /// Another node: `.string` with its name.
        case node
        /// A node or a colour.
        case nodeOrColor
        /// A list of strings.
        case strings
        /// A table with these names: `.record`; or `false` for none: `.bool(false)`.
        case record([OptionSchema])
    }

    public var name: String
    public var form: Form
    public var summary: String
    /// Unit of a number, such as "s" or "px".
    public var unit: String
    public var isRequired: Bool
    /// What an absent option means, for people to read.
    public var defaultText: String
    /// May be changed while the node runs, without restarting it: `title.string = "…"`. The node is an `AdjustableNode`.
    public var isLive: Bool

    public init(
        _ name: String, _ form: Form, _ summary: String, unit: String = "", required: Bool = false,
        default defaultText: String = "", live: Bool = false
    ) {
        self.name = name
        self.form = form
        self.summary = summary
        self.unit = unit
        self.isRequired = required
        self.defaultText = defaultText
        self.isLive = live
    }
}

/// A node's options with typed reading. Reading an absent option or one of another form gives nil.
///
/// Thread-safety: a value.
public struct NodeOptions: Hashable, Sendable {
    public var values: [String: OptionValue]

    public init(_ values: [String: OptionValue] = [:]) { self.values = values }

    public func number(_ name: String) -> Double? {
        if case .number(let number)? = values[name] { number } else { nil }
    }
    public func integer(_ name: String) -> Int? { number(name).flatMap { Int(exactly: $0) } }
    public func bool(_ name: String) -> Bool? {
        if case .bool(let bool)? = values[name] { bool } else { nil }
    }
    public func string(_ name: String) -> String? {
        if case .string(let string)? = values[name] { string } else { nil }
    }
    public func vector(_ name: String) -> [Double]? {
        if case .vector(let numbers)? = values[name] { numbers } else { nil }
    }
    public func strings(_ name: String) -> [String]? {
        if case .list(let strings)? = values[name] { strings } else { nil }
    }
    /// Values that belong together, with typed reading.
    public func record(_ name: String) -> NodeOptions? {
        if case .record(let values)? = values[name] { NodeOptions(values) } else { nil }
    }
    /// A size in whole pixels.
    public func size(_ name: String) -> (width: Int, height: Int)? {
        guard let numbers = vector(name), numbers.count == 2, let width = Int(exactly: numbers[0]),
            let height = Int(exactly: numbers[1])
        else { return nil }
        return (width, height)
    }
    /// A text that may be secret: of a plain string only passwords in addresses are hidden.
    public func secret(_ name: String) -> Secret? {
        switch values[name] {
        case .secret(let secret)?: secret
        case .string(let string)?: Secret(url: string)
        default: nil
        }
    }
}
