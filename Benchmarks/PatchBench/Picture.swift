import Foundation
import PatchMedia

/// A problem that the person at the keyboard can do something about.
struct BenchProblem: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

extension Frame {
    /// Bytes of one row of a plane, without padding.
    func rowBytes(ofPlane index: Int) -> Int {
        let layout = format.pixelFormat.layout(ofPlane: index)
        return layout.width(of: width) * layout.bytesPerPixel
    }
    func rows(ofPlane index: Int) -> Int { format.pixelFormat.layout(ofPlane: index).height(of: height) }

    /// Fills the frame from raw bytes: tight rows, planes one after the other.
    /// - Throws: `BenchProblem` when there are too few or too many.
    func fill(from bytes: [UInt8], name: String) throws {
        var offset = 0
        for index in 0..<format.pixelFormat.planeCount {
            let count = rowBytes(ofPlane: index)
            for y in 0..<rows(ofPlane: index) {
                guard offset + count <= bytes.count else { throw BenchProblem("\(name) is too short") }
                bytes.withUnsafeBytes {
                    plane(index).row(y).copyMemory(from: $0.baseAddress! + offset, byteCount: count)
                }
                offset += count
            }
        }
        guard offset == bytes.count else { throw BenchProblem("\(name) has \(bytes.count) bytes, not \(offset)") }
    }

    /// Raw bytes: tight rows, planes one after the other.
    var bytes: [UInt8] {
        var result: [UInt8] = []
        for index in 0..<format.pixelFormat.planeCount {
            for y in 0..<rows(ofPlane: index) {
                result += UnsafeRawBufferPointer(start: plane(index).row(y), count: rowBytes(ofPlane: index))
            }
        }
        return result
    }

    func write(to path: String) throws {
        guard FileManager.default.createFile(atPath: path, contents: Data(bytes)) else {
            throw BenchProblem("cannot write \(path)")
        }
    }
}

/// The pictures that all competitors read: two motifs in RGBA and Y'CbCr 4:2:0 (BT.601 limited range, which is the only
/// matrix that every peer can convert), the first one's luma, a picture before a green wall, and one with alpha.
struct TestPictures {
    let width: Int
    let height: Int
    let rgba: Frame
    let yuv420p: Frame
    /// By the peers' names: `rgba yuv420p b-rgba b-yuv420p key-rgba key-yuv420p gray overlay overlay-straight`.
    private(set) var byName: [String: Frame] = [:]

    static let video = ColorSpec(matrix: .bt601, range: .limited, primaries: .bt709, transfer: .srgb, siting: .left)

    /// - Parameter path: a raw RGBA file of that size, or nil for a generated motif.
    init(width: Int, height: Int, path: String?) throws {
        self.width = width
        self.height = height
        let format = VideoFormat(.rgba, width: width, height: height, color: .srgb, premultiplied: false)
        rgba = Frame(allocating: format)
        if let path {
            guard let data = FileManager.default.contents(atPath: path) else {
                throw BenchProblem("cannot read \(path)")
            }
            try rgba.fill(from: [UInt8](data), name: path)
        } else {
            Self.fill(rgba, Self.motif)
        }
        func video(_ frame: Frame) throws -> Frame {
            let result = Frame(allocating: VideoFormat(.yuv420p, width: width, height: height, color: Self.video))
            try result.fill(from: Reference.encode(RealPicture(frame)).bytes, name: "the test picture")
            return result
        }
        yuv420p = try video(rgba)
        byName = ["rgba": rgba, "yuv420p": yuv420p]
        // The other motif is the first one from its other corner, in other colours.
        let other = Frame(allocating: format)
        let (rows, first) = (height, rgba)
        Self.fill(other) { x, y, width, _, _ in
            let pixel = first.plane(0).row(rows - 1 - y).assumingMemoryBound(to: UInt8.self) + 4 * (width - 1 - x)
            return [Int(pixel[2]), Int(pixel[0]), Int(pixel[1]), 255]
        }
        byName["b-rgba"] = other
        byName["b-yuv420p"] = try video(other)
        let wall = Frame(allocating: format)
        Self.fill(wall) { x, y, width, height, noise in
            let pixel = first.plane(0).row(y).assumingMemoryBound(to: UInt8.self) + 4 * x
            // Somebody in an ellipse, with a soft edge.
            let (u, v) = (Double(x) / Double(width) - 0.5, Double(y) / Double(height) - 0.55)
            let share = min(1, max(0, (0.16 - (u * u + v * v)) * 20))
            let green = [20 + noise, 200 + noise, 30 + noise]
            return (0..<3).map { Int(share * Double(pixel[$0]) + (1 - share) * Double(green[$0])) } + [255]
        }
        byName["key-rgba"] = wall
        byName["key-yuv420p"] = try video(wall)
        let luma = Frame(allocating: VideoFormat(.gray8, width: width, height: height, color: .srgb))
        for y in 0..<height {
            memcpy(luma.plane(0).row(y), yuv420p.plane(0).row(y), width)
        }
        byName["gray"] = luma
        for isPremultiplied in [true, false] {
            let logo = Frame(
                allocating: VideoFormat(
                    .rgba, width: Overlay.width(width), height: Overlay.height(height), color: .srgb,
                    premultiplied: isPremultiplied))
            Self.fill(logo) { x, y, width, height, _ in Overlay.pixel(x, y, width, height, isPremultiplied) }
            byName[isPremultiplied ? "overlay" : "overlay-straight"] = logo
        }
    }

    /// The first motif; luma alone for gray8.
    subscript(_ format: PixelFormat) -> Frame {
        format == .rgba ? rgba : format == .gray8 ? byName["gray"] ?? yuv420p : yuv420p
    }

    private static func fill(
        _ frame: Frame, _ pixel: (_ x: Int, _ y: Int, _ width: Int, _ height: Int, _ noise: Int) -> [Int]
    ) {
        var random: UInt32 = 1
        for y in 0..<frame.height {
            let row = frame.plane(0).row(y).assumingMemoryBound(to: UInt8.self)
            for x in 0..<frame.width {
                random = random &* 1_664_525 &+ 1_013_904_223
                let values = pixel(x, y, frame.width, frame.height, Int(random >> 28))
                for c in 0..<4 { row[4 * x + c] = UInt8(clamping: values[c]) }
            }
        }
    }

    /// Gradients, edges at odd places and noise, opaque.
    private static func motif(_ x: Int, _ y: Int, _ width: Int, _ height: Int, _ noise: Int) -> [Int] {
        let isInside = (x / 37 + y / 23) % 3 == 0
        return [x * 240 / width + noise, y * 240 / height + noise, (isInside ? 200 : 40) + noise, 255]
    }
}

/// W4's upper picture: 1280×720 over 1920×1080, and so on.
enum Overlay {
    static func width(_ width: Int) -> Int { max(2, width * 2 / 3 / 2 * 2) }
    static func height(_ height: Int) -> Int { max(2, height * 2 / 3 / 2 * 2) }
    /// Its top left corner.
    static func x(_ width: Int) -> Int { width / 6 / 2 * 2 }
    static func y(_ height: Int) -> Int { height / 6 / 2 * 2 }

    /// A disc with a soft edge on a half-transparent ground.
    static func pixel(_ x: Int, _ y: Int, _ width: Int, _ height: Int, _ isPremultiplied: Bool) -> [Int] {
        let (u, v) = (2 * Double(x) / Double(width) - 1, 2 * Double(y) / Double(height) - 1)
        let alpha = (64 + 191 * min(1, max(0, (0.7 - (u * u + v * v)) * 4))).rounded()
        let color = [220.0, 255 * Double(x) / Double(width), 255 * Double(y) / Double(height)]
        return color.map { Int((isPremultiplied ? $0 * alpha / 255 : $0).rounded()) } + [Int(alpha)]
    }
}

/// W8's key: the wall's colour is pure green.
enum ChromaKey {
    static let threshold = 0.5
    static let smoothing = 0.2
}

extension Frame {
    /// The picture upside down: what a faulty competitor is fed in tests.
    func flipped() -> Frame {
        let frame = Frame(allocating: format)
        for index in 0..<format.pixelFormat.planeCount {
            let rows = rows(ofPlane: index)
            for y in 0..<rows {
                frame.plane(index).row(y).copyMemory(
                    from: plane(index).row(rows - 1 - y), byteCount: rowBytes(ofPlane: index))
            }
        }
        return frame
    }

    /// The same bytes, meant to have full range.
    func withFullRange() -> Frame { meaning { $0.color.range = .full } }

    /// The same bytes, meant to be premultiplied; alpha is 255 everywhere.
    func withPremultipliedAlpha() -> Frame { meaning { $0.premultiplied = true } }

    private func meaning(_ change: (inout VideoFormat) -> Void) -> Frame {
        var format = format
        change(&format)
        let frame = Frame(allocating: format)
        for index in 0..<format.pixelFormat.planeCount {
            for y in 0..<rows(ofPlane: index) {
                frame.plane(index).row(y).copyMemory(from: plane(index).row(y), byteCount: rowBytes(ofPlane: index))
            }
        }
        return frame
    }
}
