/// A Gaussian by three box averages across and three down, for coverage masks.
///
/// W. M. Wells, "Efficient synthesis of Gaussian filters by cascaded uniform filters", 1986: n boxes of width w have the
/// variance n (w² − 1) / 12, so three boxes of w = √(4σ² + 1) have the variance σ².
enum BoxBlur {
    /// - Parameter sigma: pixels; under 0.4 nothing is done. Beyond the edge lies 0.
    static func apply(to mask: UnsafeMutablePointer<UInt8>, width: Int, height: Int, stride: Int, sigma: Double) {
        guard sigma >= 0.4, width > 0, height > 0 else { return }
        let radius = max(1, Int((((4 * sigma * sigma + 1).squareRoot() - 1) / 2).rounded()))
        let length = max(width, height)
        let line = UnsafeMutablePointer<UInt8>.allocate(capacity: 2 * length)
        defer { line.deallocate() }
        line.initialize(repeating: 0, count: 2 * length)
        let other = line + length
        func blur(_ start: UnsafeMutablePointer<UInt8>, count: Int, step: Int) {
            for index in 0..<count { line[index] = start[index * step] }
            average(line, into: other, count, radius)
            average(other, into: line, count, radius)
            average(line, into: other, count, radius)
            for index in 0..<count { start[index * step] = other[index] }
        }
        for y in 0..<height { blur(mask + y * stride, count: width, step: 1) }
        for x in 0..<width { blur(mask + x, count: height, step: stride) }
    }

    private static func average(
        _ source: UnsafeMutablePointer<UInt8>, into target: UnsafeMutablePointer<UInt8>, _ count: Int, _ radius: Int
    ) {
        let size = 2 * radius + 1
        var sum = 0
        for index in 0..<min(radius, count) { sum += Int(source[index]) }
        for index in 0..<count {
            if index + radius < count { sum += Int(source[index + radius]) }
            target[index] = UInt8((sum + radius) / size)
            if index >= radius { sum -= Int(source[index - radius]) }
        }
    }
}
