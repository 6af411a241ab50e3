/// What a frame's numbers mean as light. Names follow ITU-T H.273.
///
/// Thread-safety: a value.
public struct ColorSpec: Hashable, Sendable {
    /// Luma coefficients of Y'CbCr.
    public enum Matrix: String, Hashable, Sendable, CaseIterable { case unspecified, bt601, bt709, bt2020 }
    /// `limited`: 16–235 luma, 16–240 chroma at 8 bits. `full`: 0–255.
    public enum Range: String, Hashable, Sendable, CaseIterable { case unspecified, limited, full }
    public enum Primaries: String, Hashable, Sendable, CaseIterable {
        case unspecified, bt601, bt709, bt2020, displayP3
    }
    public enum Transfer: String, Hashable, Sendable, CaseIterable { case unspecified, bt709, srgb, linear, pq, hlg }
    /// Where a subsampled chroma sample sits among its luma samples. `left` is MPEG-2's and H.264's default;
    /// `center` is MPEG-1's and JPEG's.
    public enum ChromaSiting: String, Hashable, Sendable, CaseIterable { case unspecified, left, center, topLeft }

    public var matrix: Matrix
    public var range: Range
    public var primaries: Primaries
    public var transfer: Transfer
    public var siting: ChromaSiting

    public init(
        matrix: Matrix = .unspecified, range: Range = .unspecified, primaries: Primaries = .unspecified,
        transfer: Transfer = .unspecified, siting: ChromaSiting = .unspecified
    ) {
        self.matrix = matrix
        self.range = range
        self.primaries = primaries
        self.transfer = transfer
        self.siting = siting
    }

    /// Full-range R'G'B' with the sRGB curve: what stills, screens and `half` intermediates carry.
    public static let srgb = ColorSpec(
        matrix: .bt709, range: .full, primaries: .bt709, transfer: .srgb, siting: .left)
    /// Limited-range BT.709: HD video.
    public static let bt709 = ColorSpec(
        matrix: .bt709, range: .limited, primaries: .bt709, transfer: .bt709, siting: .left)
    /// Limited-range BT.601: SD video.
    public static let bt601 = ColorSpec(
        matrix: .bt601, range: .limited, primaries: .bt601, transfer: .bt709, siting: .left)

    /// Fills in what is unspecified: Y'CbCr below 720 lines is BT.601, else BT.709, limited range, chroma sited left;
    /// anything else is full-range sRGB. `wasComplete` is false when something had to be assumed, so that a
    /// source can say so once.
    public func resolved(format: PixelFormat, height: Int) -> (spec: ColorSpec, wasComplete: Bool) {
        let assumed = !format.isYCbCr ? ColorSpec.srgb : height < 720 ? .bt601 : .bt709
        var spec = self
        if spec.matrix == .unspecified { spec.matrix = assumed.matrix }
        if spec.range == .unspecified { spec.range = assumed.range }
        if spec.primaries == .unspecified { spec.primaries = assumed.primaries }
        if spec.transfer == .unspecified { spec.transfer = assumed.transfer }
        if spec.siting == .unspecified { spec.siting = assumed.siting }
        let complete = !format.isYCbCr || (matrix != .unspecified && range != .unspecified)
        return (spec, complete)
    }

    /// (Kr, Kb) of the matrix: Y' = Kr·R' + (1 − Kr − Kb)·G' + Kb·B'. ITU-R BT.601-7, BT.709-6, BT.2020-2.
    /// `unspecified` counts as BT.709.
    public var lumaCoefficients: (red: Double, blue: Double) {
        switch matrix {
        case .bt601: (0.299, 0.114)
        case .bt709, .unspecified: (0.2126, 0.0722)
        case .bt2020: (0.2627, 0.0593)
        }
    }
}
