import Foundation
import PatchKernel
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

/// The pictures that all competitors read: one motif, RGBA and Y'CbCr 4:2:0 (BT.601 limited range, which is the only
/// matrix that every peer can convert).
struct TestPictures {
    let width: Int
    let height: Int
    let rgba: Frame
    let yuv420p: Frame

    static let video = ColorSpec(matrix: .bt601, range: .limited, primaries: .bt709, transfer: .srgb, siting: .left)

    /// - Parameter path: a raw RGBA file of that size, or nil for a generated motif.
    init(width: Int, height: Int, path: String?) throws {
        self.width = width
        self.height = height
        rgba = Frame(
            allocating: VideoFormat(.rgba, width: width, height: height, color: .srgb, premultiplied: false))
        if let path {
            guard let data = FileManager.default.contents(atPath: path) else {
                throw BenchProblem("cannot read \(path)")
            }
            try rgba.fill(from: [UInt8](data), name: path)
        } else {
            Self.generate(rgba)
        }
        yuv420p = Frame(allocating: VideoFormat(.yuv420p, width: width, height: height, color: Self.video))
        try yuv420p.fill(from: Reference.encode(RealPicture(rgba)).bytes, name: "the test picture")
    }

    subscript(_ format: PixelFormat) -> Frame { format == .rgba ? rgba : yuv420p }

    /// Gradients, edges at odd places and noise, opaque.
    private static func generate(_ frame: Frame) {
        var random: UInt32 = 1
        for y in 0..<frame.height {
            let row = frame.plane(0).row(y).assumingMemoryBound(to: UInt8.self)
            for x in 0..<frame.width {
                random = random &* 1_664_525 &+ 1_013_904_223
                let noise = Int(random >> 28)
                let isInside = (x / 37 + y / 23) % 3 == 0
                row[4 * x] = UInt8(clamping: x * 240 / frame.width + noise)
                row[4 * x + 1] = UInt8(clamping: y * 240 / frame.height + noise)
                row[4 * x + 2] = UInt8(clamping: (isInside ? 200 : 40) + noise)
                row[4 * x + 3] = 255
            }
        }
    }

    /// The picture upside down: what a faulty competitor is fed in tests.
    func flipped() -> Frame {
        let frame = Frame(allocating: rgba.format)
        for y in 0..<height {
            frame.plane(0).row(y).copyMemory(from: rgba.plane(0).row(height - 1 - y), byteCount: 4 * width)
        }
        return frame
    }
}
