import Foundation

/// A 33³ colour table: made by a formula, written as .cube for the peers, read tetrahedrally by the reference.
struct CubeLUT {
    static let side = 33
    /// Red runs fastest, then green, then blue.
    var entries: [[Double]] = []

    init() {
        func curve(_ x: Double) -> Double { x * x * (3 - 2 * x) }
        let last = Double(Self.side - 1)
        for b in 0..<Self.side {
            for g in 0..<Self.side {
                for r in 0..<Self.side {
                    let (red, green, blue) = (Double(r) / last, Double(g) / last, Double(b) / last)
                    let luma = 0.2126 * red + 0.7152 * green + 0.0722 * blue
                    entries.append([
                        0.7 * curve(red) + 0.2 * luma + 0.05, 0.75 * curve(green) + 0.2 * luma + 0.02 * red,
                        0.65 * curve(blue) + 0.25 * luma.squareRoot() + 0.03,
                    ])
                }
            }
        }
    }

    func write(to path: String) throws {
        var text = "TITLE \"bench\"\nLUT_3D_SIZE \(Self.side)\n"
        for entry in entries { text += entry.map { String(format: "%.6f", $0) }.joined(separator: " ") + "\n" }
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    func tetrahedral(_ color: [Double]) -> [Double] {
        let last = Double(Self.side - 1)
        let scaled = color.map { min(last, max(0, $0 * last)) }
        let base = scaled.map { min(Int($0), Self.side - 2) }
        let rest = zip(scaled, base).map { $0 - Double($1) }
        // From the cell's black corner to its white corner along the axes, the largest fraction first.
        let order = [0, 1, 2].sorted { rest[$0] > rest[$1] }
        var corner = base
        var result = entry(corner).map { $0 * (1 - rest[order[0]]) }
        for (i, axis) in order.enumerated() {
            corner[axis] += 1
            let weight = rest[axis] - (i < 2 ? rest[order[i + 1]] : 0)
            result = zip(result, entry(corner)).map { $0 + weight * $1 }
        }
        return result
    }

    func entry(_ at: [Int]) -> [Double] { entries[at[0] + Self.side * (at[1] + Self.side * at[2])] }
}
