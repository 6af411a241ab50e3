/// What a stream of frames looks like: everything a consumer must know before the first frame.
///
/// Thread-safety: a value.
public struct VideoFormat: Hashable, Sendable {
    public var pixelFormat: PixelFormat
    /// Stored size in pixels, 1…16384 each: before `orientation` is applied.
    public var width: Int
    public var height: Int
    public var color: ColorSpec
    /// How the stored picture must be turned to stand upright.
    public var orientation: Orientation
    /// Alpha is premultiplied (the rule between nodes). Made true where there is no alpha.
    public var premultiplied: Bool

    public init(
        _ pixelFormat: PixelFormat, width: Int, height: Int, color: ColorSpec? = nil,
        orientation: Orientation = .identity, premultiplied: Bool = true
    ) {
        self.pixelFormat = pixelFormat
        self.width = width
        self.height = height
        self.color = (color ?? ColorSpec()).resolved(format: pixelFormat, height: height).spec
        self.orientation = orientation
        self.premultiplied = premultiplied || !pixelFormat.hasAlpha
    }

    /// Size after orientation.
    public var displaySize: (width: Int, height: Int) { orientation.size(width: width, height: height) }

    /// Bytes of one picture's samples, without padding.
    public var bytes: Int {
        pixelFormat.planes.reduce(0) {
            $0 + $1.width(of: width) * $1.height(of: height) * $1.bytesPerPixel
        }
    }

    /// The largest side that any node accepts, in pixels.
    public static let maximumSide = 16384
}

extension VideoFormat: CustomStringConvertible {
    public var description: String {
        "\(pixelFormat.rawValue) \(width)x\(height) \(color.matrix.rawValue) \(color.range.rawValue)"
            + (orientation == .identity ? "" : " \(orientation)")
    }
}
