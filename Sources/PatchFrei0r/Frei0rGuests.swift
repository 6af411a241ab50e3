import PatchGraph
import PatchMedia
import Synchronization

/// The nodes `frei0r{ "cartoon", … }`: installed frei0r plugins, each in a process of its own.
///
/// Thread-safety: all members may be called from any thread.
public enum Frei0rGuests {
    private static let catalog = Frei0rCatalog()

    /// Filters and mixers are filters of the graph, sources are sources.
    public static var family: NodeFamily {
        NodeFamily("frei0r", members: { catalog.names() }, kind: { kind(try catalog.plugin($0)) })
    }

    /// The installed plugins; of one that cannot be used, the reason.
    public static func plugins() -> [GuestDescription] {
        catalog.names().map { name in
            do { return description(try catalog.plugin(name)) } catch {
                let reason = (error as? PatchError)?.cause ?? "\(error)"
                return GuestDescription(name: name, summary: "", inputs: "", refusal: reason)
            }
        }
    }

    /// One plugin.
    /// - Throws: `PatchError` with the nearest name.
    public static func plugin(_ name: String) throws -> GuestDescription { description(try catalog.plugin(name)) }

    private static func description(_ plugin: Frei0rPlugin) -> GuestDescription {
        GuestDescription(
            name: plugin.name, summary: "\(plugin.summary) (\(plugin.author), \(plugin.version))",
            inputs: "\(plugin.kind.inputs)",
            parameters: plugin.parameters.map { parameter in
                let schema = schema(parameter)
                let form: String =
                    switch parameter.form {
                    case .bool: "true or false"
                    case .double:
                        parameter.meaning.map {
                            "\(text($0.range.lowerBound))…\(text($0.range.upperBound))"
                                + ($0.unit.isEmpty ? "" : " \($0.unit)")
                        } ?? "0…1"
                    case .color: "a colour"
                    case .position: "a point, each 0…1"
                    case .string: "a text"
                    }
                return GuestDescription.Parameter(
                    name: parameter.name, form: form,
                    defaultText: parameter.form == .string
                        ? parameter.defaultText : schema.defaultValue.map(text).joined(separator: ", "),
                    summary: parameter.summary.isEmpty ? parameter.title : parameter.summary,
                    isLive: parameter.form != .string && plugin.kind != .source)
            })
    }

    private static func text(_ value: Float) -> String {
        let rounded = (value * 1000).rounded() / 1000
        return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
    }

    // MARK: Kinds

    private static let pluginOption = OptionSchema("plugin", .string, "The plugin's name.", required: true)

    private static func kind(_ plugin: Frei0rPlugin) -> NodeKind {
        var options = [pluginOption]
        for parameter in plugin.parameters where parameter.form == .string {
            options.append(
                OptionSchema(parameter.name, .string, parameter.summary, default: parameter.defaultText))
        }
        let summary = "\(plugin.summary) (frei0r)"
        guard plugin.kind == .source else {
            return NodeKind(
                NodeSchema(
                    kind: "frei0r." + plugin.name, role: .filter, summary: summary, options: options,
                    parameters: plugin.parameters.filter { $0.form != .string }.map(schema), ports: plugin.ports,
                    positional: "plugin"),
                .native { options, environment in
                    let texts = try texts(plugin, options, environment)
                    return Frei0rNode(plugin, texts: texts, environment: environment)
                })
        }
        for parameter in plugin.parameters where parameter.form != .string {
            let form: OptionSchema.Form =
                switch parameter.form {
                case .bool: .bool
                case .color: .color
                case .position: .point
                default:
                    .number(
                        parameter.meaning.map { Double($0.range.lowerBound)...Double($0.range.upperBound) } ?? 0...1)
                }
            options.append(OptionSchema(parameter.name, form, parameter.summary))
        }
        options.append(OptionSchema("size", .size, "Size of the pictures.", unit: "px", default: "the graph's"))
        options.append(OptionSchema("fps", .number(1...240), "Pictures a second.", unit: "1/s", default: "the graph's"))
        return NodeKind(
            NodeSchema(
                kind: "frei0r." + plugin.name, role: .source, summary: summary, options: options,
                positional: "plugin"),
            .source { options, environment in
                let texts = try texts(plugin, options, environment)
                return Frei0rSource(plugin, texts: texts, options: options, environment: environment)
            })
    }

    static func schema(_ parameter: Frei0rPlugin.Parameter) -> ParameterSchema {
        let floats = parameter.defaultValue.map { Float($0) }
        let label = parameter.title
        switch parameter.form {
        case .bool:
            return ParameterSchema(parameter.name, .bool, default: [floats[0] >= 0.5 ? 1 : 0], label: label)
        case .color:
            return ParameterSchema(
                parameter.name, .color, default: floats.map { min(1, max(0, $0)) } + [1], range: 0...1, label: label)
        case .position:
            return ParameterSchema(
                parameter.name, .vec2, default: floats.map { min(1, max(0, $0)) }, range: 0...1, label: label)
        case .double, .string:
            let inner = min(1, max(0, parameter.defaultValue.first ?? 0))
            guard let meaning = parameter.meaning else {
                return ParameterSchema(parameter.name, default: [Float(inner)], range: 0...1, label: label)
            }
            return ParameterSchema(
                parameter.name, default: [meaning.outer(inner)], range: meaning.range,
                neutral: meaning.neutral.map { [$0] }, label: label, unit: meaning.unit)
        }
    }

    /// The text parameters. A graph file is not trusted, and some plugins take a text for a file's name: no text of a script
    /// may name a folder.
    private static func texts(
        _ plugin: Frei0rPlugin, _ options: NodeOptions, _ environment: NodeEnvironment
    ) throws -> [String] {
        try plugin.parameters.filter { $0.form == .string }.map { parameter in
            guard let text = options.string(parameter.name) else { return parameter.defaultText }
            guard !text.contains("/"), !text.utf8.contains(0), text.utf8.count <= 4096 else {
                throw PatchError(
                    .script, "\(parameter.name) of frei0r \(plugin.name) has a / in it or is too long",
                    remedy: "a script may not name files to a plugin", node: environment.nodeID,
                    at: environment.location)
            }
            return text
        }
    }
}

/// A plugin that changes or mixes pictures.
///
/// Thread-safety: as `NativeNode`.
final class Frei0rNode: NativeNode {
    private let plugin: Frei0rPlugin
    private let texts: [String]
    private let report: @Sendable (NodeEvent) -> Void
    private struct Weak { weak var run: GuestRun? }
    private let present = Mutex(Weak())

    init(_ plugin: Frei0rPlugin, texts: [String], environment: NodeEnvironment) {
        self.plugin = plugin
        self.texts = texts
        report = environment.report
    }

    func prepare(inputs offered: [VideoFormat], rate: FrameRate) throws -> any FrameOperator {
        guard let first = offered.first else { throw PatchError(.graph, "frei0r \(plugin.name) has no input") }
        // All pictures have the first one's size, as frei0r wants.
        let format = VideoFormat(plugin.pixelFormat, width: first.width, height: first.height)
        let inputs = offered.map { _ in format }
        if let run = present.withLock({ $0.run }), run.inputs == inputs { return run }
        let count = plugin.parameters.reduce(0) { $0 + ($1.form == .color ? 4 : $1.defaultValue.count) }
        let run = GuestRun(
            Frei0rWorker(plugin, texts: texts, output: format), what: "frei0r \(plugin.name)", inputs: inputs,
            output: format, parameterCount: count, report: report)
        present.withLock { $0.run = run }
        return run
    }
}

/// A plugin that makes pictures by itself.
///
/// Thread-safety: as `MediaSource`.
final class Frei0rSource: MediaSource {
    private let run: GuestRun
    private let format: SourceFormat
    private let parameters: [Float]
    private let received = Atomic<Int64>(0)

    init(_ plugin: Frei0rPlugin, texts: [String], options: NodeOptions, environment: NodeEnvironment) {
        let size = options.size("size") ?? (environment.width, environment.height)
        let video = VideoFormat(plugin.pixelFormat, width: size.0, height: size.1)
        let rate = options.number("fps").flatMap { FrameRate(approximating: $0) } ?? environment.rate ?? FrameRate(30)
        format = SourceFormat(video: video, rate: rate)
        let floats = plugin.parameters.filter { $0.form != .string }.flatMap { parameter -> [Float] in
            let standard = Frei0rGuests.schema(parameter).defaultValue
            switch parameter.form {
            case .bool: return options.bool(parameter.name).map { [$0 ? 1 : 0] } ?? standard
            case .color, .position: return options.vector(parameter.name)?.map { Float($0) } ?? standard
            case .double, .string: return options.number(parameter.name).map { [Float($0)] } ?? standard
            }
        }
        // One more, so that there is an address although a plugin takes nothing.
        parameters = floats + [0]
        let count = floats.count
        run = GuestRun(
            Frei0rWorker(plugin, texts: texts, output: video), what: "frei0r \(plugin.name)", inputs: [],
            output: video, parameterCount: count, report: environment.report)
    }

    func open() throws -> SourceFormat { format }
    func start() throws { try run.activate() }

    func frame(at tick: Tick) -> SourceReading {
        let frame = parameters.withUnsafeBufferPointer { floats in
            floats.baseAddress.flatMap {
                run.frame(UnsafeBufferPointer(start: nil, count: 0), parameters: $0, at: tick)
            }
        }
        guard let frame else { return .waiting }
        received.add(1, ordering: .relaxed)
        return .frame(frame)
    }

    func stop() {}
    var counters: SourceCounters {
        var counters = SourceCounters()
        counters.received = received.load(ordering: .relaxed)
        return counters
    }
}
