import PatchMedia

/// One row of the table: what is done, to which format.
struct Workload: Hashable {
    var name: String
    /// What goes in.
    var format: PixelFormat
    /// What comes out.
    var output: PixelFormat
    var title: String
    /// The largest difference from the reference that our own result may have, in code values: at any place, and that
    /// 99.9 % of all places keep.
    var worst: Int
    var nearlyAll: Int

    /// Peers weigh alpha like the colours, which is right for premultiplied pictures only; so ours get such.
    var treatsAlphaAlike: Bool { ["W2", "W2-20", "W4", "W7", "W9", "W10-encode", "W10-both"].contains(name) }

    /// Every workload, in the table's order.
    static let all: [Workload] = [
        Workload("W1", .rgba, "contrast, brightness, saturation, vignette, gamma", worst: 1, nearlyAll: 1),
        // Ours keeps what leaves 0…1 between the matrix and the look; the reference cuts it.
        Workload("W1", .yuv420p, "the same look through RGB", worst: 4, nearlyAll: 1),
        Workload("W1y", .yuv420p, "eq and vignette on Y'CbCr", worst: 1, nearlyAll: 1),
        Workload("W2", .rgba, "Gaussian, sigma 4", worst: 5, nearlyAll: 2),
        // Chroma that is blurred at luma's size and then brought down differs from chroma blurred at its own.
        Workload("W2", .yuv420p, "Gaussian, sigma 4 (chroma 2)", worst: 4, nearlyAll: 2),
        Workload("W2-20", .rgba, "Gaussian, sigma 20", worst: 5, nearlyAll: 2),
        Workload("W2-20", .yuv420p, "Gaussian, sigma 20 (chroma 10)", worst: 4, nearlyAll: 2),
        Workload("W3-luma", .gray8, "bilateral of luma", worst: 2, nearlyAll: 1),
        Workload("W3-rgb", .rgba, "bilateral", worst: 2, nearlyAll: 1),
        Workload("W3-guided", .rgba, "guided filter (peers: bilateral)", worst: 8, nearlyAll: 3),
        Workload("W4", .rgba, "a 2/3 picture with alpha over another", worst: 1, nearlyAll: 1),
        Workload("W4", .yuv420p, "a 2/3 picture with alpha over another", worst: 3, nearlyAll: 2),
        Workload("W5", .rgba, "3D LUT 33³, tetrahedral", worst: 2, nearlyAll: 1),
        Workload("W6-sobel", .rgba, "Sobel of luma, sum of magnitudes", worst: 2, nearlyAll: 1),
        Workload("W6-3x3", .rgba, "3×3 convolution", worst: 1, nearlyAll: 1),
        Workload("W7", .rgba, "four pictures into quarters", worst: 2, nearlyAll: 1),
        // The reference takes means of each plane; through R'G'B' chroma is smoothed on the way.
        // In a picture of the tests' size the seams are a larger part.
        Workload("W7", .yuv420p, "four pictures into quarters", worst: 60, nearlyAll: 50),
        Workload("W8", .rgba, "chroma key over a background", worst: 2, nearlyAll: 1),
        // At the key's edge a rounded code of chroma moves the matte by several.
        Workload("W8", .yuv420p, "chroma key over a background", worst: 12, nearlyAll: 1),
        Workload("W9", .rgba, "cross-fade", worst: 1, nearlyAll: 1),
        Workload("W9", .yuv420p, "cross-fade", worst: 1, nearlyAll: 1),
        Workload("W10-decode", .yuv420p, to: .rgba, "yuv420p → RGBA", worst: 1, nearlyAll: 1),
        Workload("W10-encode", .rgba, to: .yuv420p, "RGBA → yuv420p", worst: 1, nearlyAll: 1),
        Workload("W10-both", .yuv420p, "yuv420p → RGBA → yuv420p", worst: 1, nearlyAll: 1),
    ]

    private init(
        _ name: String, _ format: PixelFormat, to output: PixelFormat? = nil, _ title: String, worst: Int,
        nearlyAll: Int
    ) {
        self.name = name
        self.format = format
        self.output = output ?? format
        self.title = title
        self.worst = worst
        self.nearlyAll = nearlyAll
    }

    /// Rows of the picture that are compared with the reference: all, or a band in its middle where the reference would take
    /// minutes otherwise.
    func checkedRows(height: Int) -> Range<Int> {
        guard name == "W2-20" || name.hasPrefix("W3"), height > 96 else { return 0..<height }
        let start = height / 4 * 2
        return start..<start + 16
    }

    /// The format's name in the peers' protocol and in the report.
    var formatName: String { format == .gray8 ? "gray" : format.rawValue }

    /// Whether `--only` asks for this one: by its name or by the part before the dash.
    func isSelected(by only: [String]) -> Bool {
        only.isEmpty || only.contains(name) || only.contains(String(name.prefix { $0 != "-" }))
    }

    /// How far a peer may be from the reference: 8-bit steps and other rounding, repeated chroma. These limits say that
    /// it did the same thing, not that it did it as well.
    func limits(ofPeer peer: String, way: String) -> PeerLimits {
        switch (peer, name) {
        case ("gstreamer", "W1"), ("gstreamer", "W1y"):
            PeerLimits(mean: 60, reason: "no vignette, and a gamma that also counts for chroma: it does less")
        case ("ffmpeg", "W1") where way.hasPrefix("eq"), ("ffmpeg", "W1y") where way.hasPrefix("eq,vignette"):
            PeerLimits(mean: 30, reason: "a vignette of another shape")
        case ("ffmpeg", "W6-sobel"): PeerLimits(mean: 8, reason: "√(gx² + gy²) in place of |gx| + |gy|")
        case (_, "W2"), (_, "W2-20"):
            PeerLimits(mean: 3, reason: "approximations of a Gaussian")
        case (_, "W3-luma"), (_, "W3-rgb"), (_, "W3-guided"):
            PeerLimits(mean: 6, reason: "a bilateral with other weights: the same kind of work")
        case (_, "W8"):
            PeerLimits(mean: 12, reason: "another distance or ramp of the key")
        case (_, "W7"): PeerLimits(mean: 3, reason: "another interpolation")
        case (_, "W1"), (_, "W1y"), (_, "W6-sobel"): PeerLimits(mean: 3, reason: "8-bit steps")
        case ("gstreamer", "W10-both"): PeerLimits(mean: 3, reason: "chroma is moved by each way")
        default: PeerLimits(mean: 2, reason: "")
        }
    }
}

/// The mean difference in code values that a peer's picture may have.
struct PeerLimits {
    var mean: Double
    /// Why it cannot be smaller; empty for the usual: rounding, and chroma that is repeated, not interpolated.
    var reason: String
}

/// How two pictures differ, in code values.
struct Difference {
    var mean = 0.0
    var worst = 0
    /// 99.9 % of all places are at most this far apart.
    var nearlyAll = 0

    /// - Throws: `BenchProblem` when the sizes differ.
    init(_ a: some Collection<UInt8>, _ b: some Collection<UInt8>) throws {
        let (a, b) = (Array(a), Array(b))
        guard a.count == b.count else { throw BenchProblem("\(a.count) bytes came out, not \(b.count)") }
        var histogram = [Int](repeating: 0, count: 256)
        for i in a.indices { histogram[a[i] > b[i] ? Int(a[i] - b[i]) : Int(b[i] - a[i])] += 1 }
        var seen = 0
        for (difference, count) in histogram.enumerated() where count > 0 {
            mean += Double(difference * count) / Double(a.count)
            worst = difference
            if seen < a.count - a.count / 1000 { nearlyAll = difference }
            seen += count
        }
    }
}
