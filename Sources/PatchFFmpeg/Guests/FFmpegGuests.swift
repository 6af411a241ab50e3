internal import CFFmpeg
import PatchGraph
import PatchMedia
import Synchronization

/// The node `ffmpeg`: any chain of libavfilter's video filters in the graph.
///
/// Thread-safety: all members may be called from any thread.
public enum FFmpegGuests {
    public static var kinds: [NodeKind] { [ffmpeg] }

    private static let ffmpeg = NodeKind(
        schema,
        .native { options, environment in
            do { return try FFmpegNode(options, environment) } catch let error as PatchError {
                throw error.placed(node: environment.nodeID, at: environment.location)
            }
        })

    private static let schema: NodeSchema = {
        var schema = NodeSchema(
            kind: "ffmpeg", role: .filter,
            summary: "A chain of FFmpeg's video filters, on a thread of its own, one tick behind when live.",
            options: [
                OptionSchema("graph", .string, "The chain, as for `ffmpeg -vf`.", required: true),
                OptionSchema(
                    "inputs", .strings, "Names of the inputs, used as [name] in the chain.", default: "image"),
                OptionSchema(
                    "format", .choice(PixelFormat.allCases.filter { $0.avFormat != nil }.map(\.rawValue)),
                    "Format in which pictures enter the chain.", default: "what its first filter reads"),
            ], positional: "graph", portsOption: "inputs")
        schema.takesCommands = true
        return schema
    }()

    /// The video filters of the installed libavfilter, by name, with the reason where scripts may not use one.
    public static func filters() -> [GuestDescription] { filters(ofSound: false) }

    static func filters(ofSound isSound: Bool) -> [GuestDescription] {
        var result: [GuestDescription] = []
        var cursor: UnsafeMutableRawPointer?
        while let filter = av_filter_iterate(&cursor) {
            if let described = describe(filter, isSound: isSound) { result.append(described) }
        }
        return result.sorted { $0.name < $1.name }
    }

    /// nil when it is no filter for pictures alone, or for sound alone, with a result.
    private static func describe(_ filter: UnsafePointer<AVFilter>, isSound: Bool) -> GuestDescription? {
        let media = isSound ? AVMEDIA_TYPE_AUDIO : AVMEDIA_TYPE_VIDEO
        let rules: any ChainRules.Type = isSound ? SoundRules.self : GuestRules.self
        let inputs = Int(avfilter_filter_pad_count(filter, 0))
        let outputs = Int(avfilter_filter_pad_count(filter, 1))
        let flags = filter.pointee.flags
        let anyInputs = flags & AVFILTER_FLAG_DYNAMIC_INPUTS != 0
        let anyOutputs = flags & AVFILTER_FLAG_DYNAMIC_OUTPUTS != 0
        guard outputs > 0 || anyOutputs else { return nil }
        for pad in 0..<inputs where avfilter_pad_get_type(filter.pointee.inputs, Int32(pad)) != media { return nil }
        for pad in 0..<outputs where avfilter_pad_get_type(filter.pointee.outputs, Int32(pad)) != media { return nil }
        let name = String(cString: filter.pointee.name)
        // Filters with any number of inputs tell their kind of media only by name: sound's begin with an a.
        if anyInputs || anyOutputs, inputs == 0 || outputs == 0 {
            let isForSound =
                rules.allowed.contains(name)
                ? isSound : name.hasPrefix("a") && avfilter_get_by_name(String(name.dropFirst())) != nil
            if isForSound != isSound { return nil }
        }
        var guest = GuestDescription(
            name: name, summary: filter.pointee.description.map { String(cString: $0) } ?? "",
            inputs: anyInputs ? "any number" : "\(inputs)", parameters: options(of: filter),
            refusal: rules.refusal(of: name, hasInputs: inputs > 0 || anyInputs)?.reason)
        guest.isSound = isSound
        return guest
    }

    static func options(of filter: UnsafePointer<AVFilter>) -> [GuestDescription.Parameter] {
        guard filter.pointee.priv_class != nil else { return [] }
        var result: [GuestDescription.Parameter] = []
        var last: (offset: Int32, name: String)?
        withUnsafePointer(to: filter.pointee.priv_class) { object in
            var option = av_opt_next(object, nil)
            while let present = option {
                defer { option = av_opt_next(object, present) }
                let entry = present.pointee
                guard entry.type != AV_OPT_TYPE_CONST, entry.flags & AV_OPT_FLAG_DEPRECATED == 0 else { continue }
                // Short names stand for the option before them.
                if let last, last.offset == entry.offset, entry.offset != 0 { continue }
                let name = String(cString: entry.name)
                last = (entry.offset, name)
                result.append(
                    GuestDescription.Parameter(
                        name: name, form: form(entry), defaultText: defaultText(entry),
                        summary: entry.help.map { String(cString: $0) } ?? "",
                        isLive: entry.flags & patch_runtime_flag() != 0))
            }
        }
        return result
    }

    private static func form(_ option: AVOption) -> String {
        func number(_ value: Double) -> String {
            abs(value) >= 2_147_483_647 ? "…" : value == value.rounded() ? "\(Int(value))" : "\(Float(value))"
        }
        switch option.type {
        case AV_OPT_TYPE_BOOL: return "true or false"
        case AV_OPT_TYPE_INT, AV_OPT_TYPE_INT64, AV_OPT_TYPE_UINT64, AV_OPT_TYPE_DOUBLE, AV_OPT_TYPE_FLOAT:
            return "\(number(option.min))…\(number(option.max))"
        case AV_OPT_TYPE_STRING: return "text or expression"
        case AV_OPT_TYPE_FLAGS: return "flags"
        case AV_OPT_TYPE_COLOR: return "a colour"
        case AV_OPT_TYPE_IMAGE_SIZE: return "a size"
        case AV_OPT_TYPE_VIDEO_RATE, AV_OPT_TYPE_RATIONAL: return "a ratio"
        case AV_OPT_TYPE_DURATION: return "a duration"
        case AV_OPT_TYPE_PIXEL_FMT: return "a pixel format"
        default: return "a value"
        }
    }

    private static func defaultText(_ option: AVOption) -> String {
        switch option.type {
        case AV_OPT_TYPE_BOOL: return option.default_val.i64 == 1 ? "true" : option.default_val.i64 == 0 ? "false" : ""
        case AV_OPT_TYPE_INT, AV_OPT_TYPE_INT64, AV_OPT_TYPE_UINT64: return "\(option.default_val.i64)"
        case AV_OPT_TYPE_DOUBLE, AV_OPT_TYPE_FLOAT: return "\(Float(option.default_val.dbl))"
        case AV_OPT_TYPE_STRING, AV_OPT_TYPE_COLOR, AV_OPT_TYPE_IMAGE_SIZE:
            return option.default_val.str.map { String(cString: $0) } ?? ""
        default: return ""
        }
    }
}

/// An `ffmpeg` node of a graph.
///
/// Thread-safety: as `NativeNode`.
final class FFmpegNode: NativeNode {
    private let text: String
    private let ports: [String]
    private let syntax: ChainSyntax
    private let format: PixelFormat?
    private let report: @Sendable (NodeEvent) -> Void

    private struct Weak {
        weak var run: GuestRun?
        var rate = FrameRate(30)
    }
    private struct State {
        var present = Weak()
        var told: [(target: String, name: String, argument: String)] = []
    }
    private let state = Mutex(State())

    init(_ options: NodeOptions, _ environment: NodeEnvironment) throws {
        text = options.string("graph") ?? ""
        if case .list(let names)? = options.values["inputs"] { ports = names } else { ports = ["in"] }
        syntax = try ChainSyntax(text)
        try syntax.check(GuestRules.self)
        format = options.string("format").flatMap { PixelFormat(rawValue: $0) }
        report = environment.report
    }

    func prepare(inputs offered: [VideoFormat], rate: FrameRate) throws -> any FrameOperator {
        let told = state.withLock { $0.told }
        var wanted = offered.map { offer -> VideoFormat in
            let kind = format ?? (offer.pixelFormat.avFormat == nil ? .rgba : offer.pixelFormat)
            return kind == offer.pixelFormat ? offer : VideoFormat(kind, width: offer.width, height: offer.height)
        }
        if let run = present(wanted, rate) { return run }
        let asked = wanted
        var chain = try FilterChain(text, ports: ports, inputs: wanted, rate: rate, told: told, report: report)
        if format == nil {
            for index in wanted.indices {
                guard let better = chain.preferredFormat(ofPort: index), better != wanted[index].pixelFormat else {
                    continue
                }
                // Among Y'CbCr formats the colours stay what they are.
                let color = better.isYCbCr && wanted[index].pixelFormat.isYCbCr ? wanted[index].color : nil
                wanted[index] = VideoFormat(
                    better, width: wanted[index].width, height: wanted[index].height, color: color)
            }
            if wanted != asked {
                if let run = present(wanted, rate) { return run }
                chain = try FilterChain(text, ports: ports, inputs: wanted, rate: rate, told: told, report: report)
            }
        }
        let run = GuestRun(
            chain, what: "ffmpeg", inputs: wanted, output: chain.output, parameterCount: 0, report: report)
        state.withLock { $0.present = Weak(run: run, rate: rate) }
        return run
    }

    /// The run that there is, when it takes such pictures.
    private func present(_ inputs: [VideoFormat], _ rate: FrameRate) -> GuestRun? {
        state.withLock { state in
            guard let run = state.present.run, state.present.rate == rate, run.inputs == inputs else { return nil }
            return run
        }
    }

    func command(_ target: String, _ name: String, _ argument: String) throws {
        try syntax.checkCommand(target, name)
        let run = state.withLock { state -> GuestRun? in
            state.told.removeAll { $0.target == target && $0.name == name }
            state.told.append((target, name, argument))
            return state.present.run
        }
        run?.tell(target, name, argument)
    }
}
