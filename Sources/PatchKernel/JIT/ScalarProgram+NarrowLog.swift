import Glibc

/// Logarithms of numbers that are known to lie near each other.
extension ScalarProgram {
    /// How far a short polynomial may be from log2: less than the general one for 8-bit outputs is.
    private static let narrowError = 4e-6

    /// log2 by the shortest polynomial that is exact enough between the limits that x is known to keep, for 8-bit outputs; nil
    /// where none of degree 5 or less is, which is beyond limits about 1.7 times apart.
    ///
    /// Interpolation at Chebyshev's nodes, in powers of the distance from the middle, in double precision.
    mutating func narrowLog2(_ x: S) -> S? {
        let known = bounds[x.index]
        guard isCoarse, rate(x) == .pixel, !known.mayBeNaN, known.low > 0x1p-126, known.high < 2 * known.low,
            known.low < known.high
        else { return nil }
        let middle = Float((Double(known.low) + Double(known.high)) / 2)
        let reach = Swift.max(Double(known.high) - Double(middle), Double(middle) - Double(known.low))
        for degree in 2...5 {
            let coefficients = Self.log2Coefficients(degree, middle: Double(middle), reach: reach)
            let error =
                (0...64).map { step in
                    let t = reach * (Double(step) / 32 - 1)
                    let value = coefficients.reversed().reduce(0) { $0 * t + $1 }
                    return Swift.abs(value - log2Double(Double(middle) + t))
                }.max() ?? .infinity
            guard error < Self.narrowError else { continue }
            let centre = float(middle)
            return polynomial(sub(x, centre), coefficients.map { Float($0) })
        }
        return nil
    }

    /// Coefficients of powers of t = x − middle, from the constant on.
    private static func log2Coefficients(_ degree: Int, middle: Double, reach: Double) -> [Double] {
        let nodes = (0...degree).map { reach * cos(Double.pi * (Double($0) + 0.5) / Double(degree + 1)) }
        // Newton's divided differences, then multiplied out.
        var differences = nodes.map { log2Double(middle + $0) }
        for order in 1...degree {
            for index in stride(from: degree, through: order, by: -1) {
                differences[index] =
                    (differences[index] - differences[index - 1]) / (nodes[index] - nodes[index - order])
            }
        }
        var coefficients = [differences[degree]]
        for index in stride(from: degree - 1, through: 0, by: -1) {
            // coefficients · (t − node) + difference
            var next = [0.0] + coefficients
            for (power, coefficient) in coefficients.enumerated() { next[power] -= nodes[index] * coefficient }
            next[0] += differences[index]
            coefficients = next
        }
        return coefficients
    }
}
