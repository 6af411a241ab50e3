import PatchGraph
import PatchMedia
import Synchronization

/// The kinds of node that show pictures on this machine.
public enum DisplaySink {
    public static var kinds: [NodeKind] {
        [
            NodeKind(
                NodeSchema(
                    kind: "display", role: .sink, summary: "Shows the picture in a window.",
                    options: DisplaySettings.schema),
                .sink { options, environment in DisplayOutput(options: options, environment: environment) })
        ]
    }
}

/// `display`: a window that shows the newest frame, scaled by SDL's renderer.
///
/// Y'CbCr 4:2:0 goes to the screen as it is; anything else is asked for as bgra. The close button and keys become
/// `NodeEvent`s; a closed window takes no more pictures and holds up nobody.
/// Thread-safety: as `MediaSink` states; the window itself lives on the display thread.
public final class DisplayOutput: MediaSink {
    private let environment: NodeEnvironment
    private let settings: DisplaySettings
    private let window = Mutex<WindowHandle?>(nil)

    public init(options: NodeOptions, environment: NodeEnvironment) {
        self.environment = environment
        settings = DisplaySettings(options, name: environment.nodeID)
    }

    public func negotiate(offered: VideoFormat?, hasSound: Bool, rate: FrameRate) throws -> SinkRequest {
        guard let offered else {
            throw PatchError(
                .graph, "display shows pictures, but only sound is wired to it", remedy: "wire a video node to it",
                node: environment.nodeID, at: environment.location)
        }
        // SDL scales and places the picture, so that a resized window costs no new plan.
        let (width, height) = offered.displaySize
        let format: VideoFormat
        switch offered.pixelFormat {
        case .yuv420p, .nv12:
            // What SDL can show: BT.601 and BT.709, limited range.
            let color: ColorSpec = offered.color.matrix == .bt601 ? .bt601 : .bt709
            format = VideoFormat(offered.pixelFormat, width: width, height: height, color: color)
        default: format = VideoFormat(.bgra, width: width, height: height)
        }
        return SinkRequest(video: format, fill: .stretch, queue: .dropOldest(depth: 1))
    }

    public func open(video: VideoFormat?, audio: AudioFormat?, rate: FrameRate) throws {
        guard let video, window.withLock({ $0 == nil }) else { return }
        let opened = try DisplayThread.shared.open(
            settings: settings, video: video, environment: environment)
        window.withLock { $0 = opened }
    }

    public func consume(_ delivery: Delivery) throws {
        guard let frame = delivery.frame, let window = window.withLock({ $0 }) else { return }
        DisplayThread.shared.show(frame, in: window)
    }

    public func finish() {
        let opened = window.withLock { window in
            defer { window = nil }
            return window
        }
        if let opened { DisplayThread.shared.close(opened) }
    }
}

/// What a `display`'s options ask for.
struct DisplaySettings: Sendable {
    var title: String
    /// Size of the window; nil is the picture's, made smaller where the screen is.
    var size: (width: Int, height: Int)?
    var fill: FillMode
    /// R'G'B', 0…255.
    var background: (red: UInt8, green: UInt8, blue: UInt8) = (0, 0, 0)

    /// Our words, then GPUImage's for the same.
    static let fills: [(String, FillMode)] = [
        ("fit", .fit), ("fill", .fill), ("stretch", .stretch), ("preserveAspectRatio", .fit),
        ("preserveAspectRatioAndFill", .fill),
    ]

    static let schema: [OptionSchema] = [
        OptionSchema("title", .string, "Text on the window's frame.", default: "the node's name"),
        OptionSchema("size", .size, "Size of the window.", unit: "px", default: "the picture's size"),
        OptionSchema(
            "fill", .choice(fills.map(\.0)), "How the picture fills a window of another shape.", default: "fit"),
        OptionSchema("background", .color, "Colour beside the picture.", default: "black"),
    ]

    init(_ options: NodeOptions, name: String) {
        title = options.string("title") ?? name
        size = options.size("size")
        fill = DisplaySettings.fills.first { $0.0 == options.string("fill") }?.1 ?? .fit
        if let color = options.vector("background"), color.count >= 3 {
            let bytes = color.map { UInt8(max(0, min(255, ($0 * 255).rounded()))) }
            background = (bytes[0], bytes[1], bytes[2])
        }
    }

    /// Where a picture goes in a window, in window pixels; for `fill` the rectangle reaches beyond the window.
    static func placement(
        of picture: (width: Int, height: Int), in window: (width: Int, height: Int), fill: FillMode
    ) -> (x: Int, y: Int, width: Int, height: Int) {
        guard picture.width > 0, picture.height > 0, fill != .stretch else {
            return (0, 0, window.width, window.height)
        }
        let (horizontal, vertical) = (
            Double(window.width) / Double(picture.width), Double(window.height) / Double(picture.height)
        )
        let scale = fill == .fit ? min(horizontal, vertical) : max(horizontal, vertical)
        let width = max(1, Int((Double(picture.width) * scale).rounded()))
        let height = max(1, Int((Double(picture.height) * scale).rounded()))
        return ((window.width - width) / 2, (window.height - height) / 2, width, height)
    }
}
