import Glibc
import PatchMedia

/// Reads YUV4MPEG2, 8-bit 4:2:0, from a file or, as frames arrive, from a FIFO. Written from the format's description
/// (yuv4mpeg(5) of mjpegtools): a line of parameters, then "FRAME" and the planes of each frame.
///
/// Thread-safety: use from one thread at a time.
public final class Y4MReader {
    public struct Picture: Sendable {
        public let width: Int
        public let height: Int
        /// Y, then Cb, then Cr, without padding.
        public let bytes: [UInt8]
        /// When the last byte arrived, monotonic nanoseconds.
        public let arrival: Int64

        public func luma(_ x: Int, _ y: Int) -> Int { Int(bytes[y * width + x]) }
        /// Y, Cb, Cr at a luma position.
        public func codes(_ x: Int, _ y: Int) -> [Int] {
            let (chromaWidth, chromaHeight) = ((width + 1) / 2, (height + 1) / 2)
            let chroma = width * height + (y / 2) * chromaWidth + x / 2
            return [luma(x, y), Int(bytes[chroma]), Int(bytes[chroma + chromaWidth * chromaHeight])]
        }

        /// The codes of the whole picture when it has one colour, to within `tolerance` a code; nil when it has not.
        public func soleColor(tolerance: Int = 1) -> [Int]? {
            let middle = codes(width / 2, height / 2)
            let chroma = ((width + 1) / 2) * ((height + 1) / 2)
            let starts = [0, width * height, width * height + chroma, bytes.count]
            for plane in 0..<3 {
                let legal = max(0, middle[plane] - tolerance)...min(255, middle[plane] + tolerance)
                let (low, high) = (UInt8(legal.lowerBound), UInt8(legal.upperBound))
                let isUniform = bytes[starts[plane]..<starts[plane + 1]].withUnsafeBufferPointer { samples in
                    samples.allSatisfy { $0 >= low && $0 <= high }
                }
                if !isUniform { return nil }
            }
            return middle
        }
    }

    private let file: UnsafeMutablePointer<FILE>
    public let width: Int
    public let height: Int
    /// Frames a second as written, such as "30:1".
    public let rate: String

    /// Opens and reads the header. With a FIFO this waits for its writer.
    /// - Throws: `TestProblem` when it cannot be opened or is something else.
    public init(_ path: String) throws {
        guard let file = fopen(path, "r") else { throw TestProblem("\(path): \(String(cString: strerror(errno)))") }
        self.file = file
        guard let header = Self.line(file), header.hasPrefix("YUV4MPEG2 ") else {
            fclose(file)
            throw TestProblem("\(path) is not YUV4MPEG2")
        }
        var fields: [Character: String] = [:]
        for word in header.split(separator: " ").dropFirst() {
            if let tag = word.first { fields[tag] = String(word.dropFirst()) }
        }
        guard let width = fields["W"].flatMap({ Int($0) }), let height = fields["H"].flatMap({ Int($0) }),
            fields["C"]?.hasPrefix("420") ?? true
        else {
            fclose(file)
            throw TestProblem("\(path): cannot read '\(header)'")
        }
        self.width = width
        self.height = height
        rate = fields["F"] ?? ""
    }

    /// The next picture, or nil at the end.
    /// - Throws: `TestProblem` when a frame is cut off.
    public func next() throws -> Picture? {
        guard let line = Self.line(file) else { return nil }
        guard line.hasPrefix("FRAME") else { throw TestProblem("expected FRAME, found '\(line.prefix(40))'") }
        let count = width * height + 2 * ((width + 1) / 2) * ((height + 1) / 2)
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = fread(buffer.baseAddress, 1, count, file)
        }
        guard bytes.count == count else { throw TestProblem("a frame has \(bytes.count) of \(count) bytes") }
        return Picture(width: width, height: height, bytes: bytes, arrival: monotonicNanoseconds())
    }

    deinit { fclose(file) }

    private static func line(_ file: UnsafeMutablePointer<FILE>) -> String? {
        var bytes: [UInt8] = []
        while true {
            let byte = getc(file)
            if byte < 0 { return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self) }
            if byte == 10 { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(UInt8(truncatingIfNeeded: byte))
            if bytes.count > 4096 { return nil }
        }
    }
}
