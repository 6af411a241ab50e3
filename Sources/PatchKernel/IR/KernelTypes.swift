/// The types of the kernel language, by GLSL's names.
///
/// Thread-safety: a value.
public enum ValueType: String, Hashable, Sendable, CaseIterable {
    case bool, int, float, vec2, vec3, vec4, mat2, mat3, mat4

    /// Scalars that make up one value; matrices are column by column.
    public var componentCount: Int {
        switch self {
        case .bool, .int, .float: 1
        case .vec2: 2
        case .vec3: 3
        case .vec4, .mat2: 4
        case .mat3: 9
        case .mat4: 16
        }
    }

    public var isVector: Bool { self == .vec2 || self == .vec3 || self == .vec4 }
    public var isMatrix: Bool { self == .mat2 || self == .mat3 || self == .mat4 }
    /// float, a vector or a matrix.
    public var isFloatBased: Bool { self != .bool && self != .int }

    /// Rows (and columns) of a matrix; components of a vector; 1 for scalars.
    var order: Int {
        switch self {
        case .bool, .int, .float: 1
        case .vec2, .mat2: 2
        case .vec3, .mat3: 3
        case .vec4, .mat4: 4
        }
    }

    /// float, vec2, vec3 or vec4.
    /// - Precondition: 1 ≤ size ≤ 4.
    public static func vector(_ size: Int) -> ValueType {
        precondition((1...4).contains(size))
        return [.float, .vec2, .vec3, .vec4][size - 1]
    }

    static func matrix(_ order: Int) -> ValueType { [.mat2, .mat3, .mat4][order - 2] }
}

/// A handle to one value of a kernel: valid for the builder (and the kernel) it came from.
///
/// Thread-safety: a value.
public struct Value: Hashable, Sendable {
    public let index: Int
    public let type: ValueType

    init(index: Int, type: ValueType) {
        self.index = index
        self.type = type
    }
}

/// What the numbers of a colour are proportional to: `encoded` as video and stills carry them, `linear` to light.
public enum Light: String, Hashable, Sendable, CaseIterable { case encoded, linear }
/// Whether colour is already multiplied by alpha.
public enum Alpha: String, Hashable, Sendable, CaseIterable { case straight, premultiplied }
/// `rgb`: a kernel sees R'G'B'. `ycbcr`: it sees the video's own Y', Cb, Cr (Y' in 0…1, chroma −0.5…0.5) in r, g, b.
/// `any`: its formula gives the same picture in both, because it only weighs colours whose weights sum to 1 (or adds black),
/// alike in all channels: mixes, cross-fades, crops, resampling, blurs, opaque source-over. The pass takes what is cheapest.
/// Colours from elsewhere must come through `KernelBuilder.color`.
public enum KernelSpace: String, Hashable, Sendable, CaseIterable { case rgb, ycbcr, any }

/// How `sample` weighs the pixels around a position. `bicubic` is Catmull-Rom (B = 0, C = 0.5).
public enum SampleFilter: String, Hashable, Sendable, CaseIterable { case nearest, bilinear, bicubic }
/// What lies beyond the picture: its edge pixel, its mirror image (edge pixel repeated), itself again, or nothing.
public enum EdgeMode: String, Hashable, Sendable, CaseIterable { case clamp, mirror, wrap, transparent }

/// A picture that a kernel reads, and the form it wants it in.
///
/// Thread-safety: a value.
public struct InputDeclaration: Hashable, Sendable {
    public var name: String
    public var light: Light
    public var alpha: Alpha

    public init(name: String, light: Light = .encoded, alpha: Alpha = .straight) {
        self.name = name
        self.light = light
        self.alpha = alpha
    }
}

/// A parameter that is the same for all pixels of a frame and may change from frame to frame without a recompile.
/// Stored as floats, whatever the type; matrices column by column.
///
/// Thread-safety: a value.
public struct UniformDeclaration: Hashable, Sendable {
    public var name: String
    public var type: ValueType
    /// Where given, each component counts as the nearest value in it (NaN as the lowest): what lets a pass be computed
    /// in integers. Only of finite numbers, and only for floats and vectors.
    public var range: ClosedRange<Float>?

    public init(name: String, type: ValueType, range: ClosedRange<Float>? = nil) {
        self.name = name
        self.type = type
        let isUsable = type == .float || type.isVector
        self.range = isUsable ? range.flatMap { $0.lowerBound.isFinite && $0.upperBound.isFinite ? $0 : nil } : nil
    }
}

/// What the runtime knows at a pixel.
///
/// Thread-safety: a value.
public enum Builtin: Hashable, Sendable {
    /// vec2, pixels; the centre of the first pixel is (0.5, 0.5).
    case position
    /// vec2, position / size: 0…1 over the output.
    case uv
    /// vec2, the output's width and height in pixels.
    case size
    /// vec2, an input's width and height in pixels after its orientation.
    case inputSize(Int)
    /// float, seconds.
    case time
    /// int, counts frames.
    case frame
    /// float in 0…1, different for every pixel and frame, the same on every run.
    case hash

    var type: ValueType {
        switch self {
        case .position, .uv, .size, .inputSize: .vec2
        case .time, .hash: .float
        case .frame: .int
        }
    }
}

/// What a kernel reads of an input around each pixel.
///
/// Thread-safety: a value.
public enum Footprint: Hashable, Sendable {
    case unused
    /// Only the pixel itself.
    case point
    /// Whole-pixel offsets, at most this far out, in pixels (all ≥ 0).
    case stencil(left: Int, right: Int, up: Int, down: Int)
    /// Computed positions.
    case gather
}

/// Why a kernel cannot be built, parsed or compiled.
///
/// Thread-safety: a value.
public struct KernelError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// Operands of types that the operation does not take.
        case type
        /// An input, uniform, swizzle letter or name that does not exist.
        case name
        /// An offset, size or count outside its range.
        case range
        /// The kernel is too large.
        case budget
        /// The text form is malformed.
        case syntax
        /// A combination that this version cannot do.
        case unsupported
        /// The code generator failed.
        case compiler
    }

    public var code: Code
    /// What is wrong, with the offending value in it.
    public var message: String
    /// What to do about it; empty when nothing helps.
    public var remedy: String

    public init(_ code: Code, _ message: String, remedy: String = "") {
        self.code = code
        self.message = message
        self.remedy = remedy
    }

    public var description: String { remedy.isEmpty ? message : "\(message); \(remedy)" }
}
