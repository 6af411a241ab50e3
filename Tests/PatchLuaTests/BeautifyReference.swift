import Glibc

/// The demo's chain in double precision, straight from its description: what `filter.beautify` must give. Slow and plain;
/// a test holds it against the NumPy version in Fixtures/filters/beauty.py.
struct BeautifyReference {
    typealias RGB = SIMD3<Double>
    let width: Int
    let height: Int
    let image: [RGB]

    /// - Returns: R'G'B', not yet clamped to 0…1.
    func result(smooth: Double = 0.5, brightness: Double = 1.1, saturation: Double = 1.1) -> [RGB] {
        let soft = bilateral(bilateral(image, 0, 1), 1, 0)
        let edges = canny()
        return image.indices.map { index in
            let c = image[index]
            let isBright: Bool = c[0] > 0.3725 && c[1] > 0.1568 && c[2] > 0.0784
            let isRed: Bool = c[0] > c[2] && abs(c[0] - c[1]) > 0.0588
            let isSkin: Bool = !edges[index] && isBright && isRed && c.max() - c.min() > 0.0588
            var out = isSkin ? (1 - smooth) * (c - soft[index]) + soft[index] : c
            for channel in 0..<3 { out[channel] = log(1 + 0.2 * out[channel]) / log(1.2) * brightness }
            let grey: Double = 0.30 * out[0] + 0.59 * out[1] + 0.11 * out[2]
            return RGB(repeating: grey) + (out - RGB(repeating: grey)) * saturation
        }
    }

    private func index(_ x: Int, _ y: Int) -> Int {
        max(0, min(height - 1, y)) * width + max(0, min(width - 1, x))
    }

    private func map<T>(_ body: (Int, Int) -> T) -> [T] {
        (0..<width * height).map { body($0 % width, $0 / width) }
    }

    private func bilateral(_ from: [RGB], _ dx: Int, _ dy: Int) -> [RGB] {
        let weights = [0.05, 0.09, 0.12, 0.15, 0.18, 0.15, 0.12, 0.09, 0.05]
        return map { x, y in
            let centre = from[index(x, y)]
            var (sum, total) = (centre * weights[4], weights[4])
            for i in -4...4 where i != 0 {
                let tap = from[index(x + 4 * i * dx, y + 4 * i * dy)]
                let difference = centre - tap
                let distance = (difference * difference).sum().squareRoot()
                let weight = weights[i + 4] * (1 - min(distance * 4, 1))
                (sum, total) = (sum + tap * weight, total + weight)
            }
            return sum / total
        }
    }

    func canny() -> [Bool] {
        var luma = image.map { 0.2125 * $0[0] + 0.7154 * $0[1] + 0.0721 * $0[2] }
        let taps: [Double] = (-4...4).map { (i: Int) -> Double in exp(-Double(i * i) / 8) }
        let whole: Double = taps.reduce(0, +)
        for (dx, dy) in [(0, 1), (1, 0)] {
            let before = luma
            luma = map { x, y in
                var sum = 0.0
                for i in -4...4 { sum += taps[i + 4] / whole * before[index(x + i * dx, y + i * dy)] }
                return sum
            }
        }
        func gradient(_ x: Int, _ y: Int) -> (Double, Double) {
            func at(_ dx: Int, _ dy: Int) -> Double { luma[index(x + dx, y + dy)] }
            let right: Double = at(1, -1) + 2 * at(1, 0) + at(1, 1)
            let left: Double = at(-1, -1) + 2 * at(-1, 0) + at(-1, 1)
            let below: Double = at(-1, 1) + 2 * at(0, 1) + at(1, 1)
            let above: Double = at(-1, -1) + 2 * at(0, -1) + at(1, -1)
            return (right - left, below - above)
        }
        let gradients = map { gradient($0, $1) }
        let strength = gradients.map { hypot($0.0, $0.1) }
        let thin = map { x, y -> Double in
            let here = index(x, y)
            guard strength[here] > 0 else { return 0 }
            func step(_ part: Double) -> Int {
                let share = part / strength[here]
                return (share < 0 ? -1 : 1) * Int((abs(share) + 0.617316).rounded(.down))
            }
            let (dx, dy) = (step(gradients[here].0), step(gradients[here].1))
            guard strength[here] >= strength[index(x + dx, y + dy)], strength[here] >= strength[index(x - dx, y - dy)]
            else { return 0 }
            let t = max(0, min(1, (strength[here] - 0.1) / 0.3))
            return t * t * (3 - 2 * t)
        }
        return map { x, y in
            var sum = 0.0
            for dy in -1...1 { for dx in -1...1 { sum += thin[index(x + dx, y + dy)] } }
            return sum >= 1.5 && thin[index(x, y)] >= 0.01
        }
    }
}
