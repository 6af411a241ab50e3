import PatchKernel
import Testing

/// Rows of half floats against sums in double precision, at lengths around a step's, on several processors.
@Suite struct HalfRowTests {
    private static let compilers =
        [KernelCompiler()] + ProcessorLevel.runnable.map { KernelCompiler(CompilerOptions(processor: $0)) }
    private static let lengths = [1, 2, 3, 7, 15, 16, 17, 32, 33, 64, 77]
    private let weights: [Float] = [0.3, 0.2, 0.1, 0.04, 0.01, 0, 0, 0, 0]

    private func halves(_ count: Int) -> [Float16] { (0..<count).map { _ in Float16(Float.random(in: -2...2)) } }

    /// What a function writes, and nothing after it.
    private func written(_ count: Int, _ write: (UnsafeMutableRawPointer) -> Void) -> [Double] {
        var target = [Float16](repeating: 99, count: count + 40)
        target.withUnsafeMutableBytes { write($0.baseAddress!) }
        #expect(target[count...].allSatisfy { $0 == 99 }, "wrote beyond its row")
        return target[..<count].map { Double($0) }
    }

    private func expectNear(_ made: [Double], _ exact: [Double], _ name: String) {
        for (a, b) in zip(made, exact) {
            #expect(abs(a - b) <= 0.0006 * max(1, abs(b)), "\(name): \(a), not \(b)")
        }
    }

    @Test func shrinksAndGrows() throws {
        for compiler in Self.compilers {
            let code = try compiler.halfPyramidRows()
            for length in Self.lengths {
                let rows = (0..<4).map { _ in halves(length) }
                let exact = (0..<length).map { x in
                    let v = rows.map { Double($0[x]) }
                    return (v[0] + 3 * v[1] + 3 * v[2] + v[3]) / 8
                }
                for shrink in [code.shrinkSource, code.shrinkRows] {
                    expectNear(
                        written(length) { shrink($0, rows[0], rows[1], rows[2], rows[3], length) }, exact, "shrink")
                }
                let row = halves(2 * length + 2)
                expectNear(
                    written(length) { code.shrinkAcross.one($0, row, length) },
                    (0..<length).map { x in
                        let v = (0..<4).map { Double(row[2 * x + $0]) }
                        return (v[0] + 3 * v[1] + 3 * v[2] + v[3]) / 8
                    }, "shrink across")
                expectNear(
                    written(length) { code.growRows($0, rows[0], rows[1], length) },
                    (0..<length).map { 0.75 * Double(rows[0][$0]) + 0.25 * Double(rows[1][$0]) }, "grow")
                expectNear(
                    written(2 * length) { code.growAcross.one($0, row, length) },
                    (0..<2 * length).map {
                        0.75 * Double(row[$0 / 2 + 1]) + 0.25 * Double(row[$0 / 2 + $0 % 2 * 2])
                    }, "grow across")
            }
        }
    }

    @Test func blurs() throws {
        for compiler in Self.compilers {
            let code = try compiler.halfPyramidRows()
            for radius in [4, 8] {
                for length in Self.lengths {
                    let row = halves(length + 2 * radius)
                    let blur = radius == 4 ? code.blurAcross4.one : code.blurAcross8.one
                    let across = written(length) { target in
                        row.withUnsafeBytes { blur(target, $0.baseAddress! + 2 * radius, weights, length) }
                    }
                    func sum(_ read: (Int) -> Float16) -> Double {
                        (0...2 * radius).reduce(0.0) { $0 + Double(read($1)) * Double(weights[abs($1 - radius)]) }
                    }
                    expectNear(across, (0..<length).map { x in sum { row[x + $0] } }, "across")
                    let flat = halves((2 * radius + 1) * length)
                    let down = written(length) { target in
                        flat.withUnsafeBytes { all in
                            let places = (0...2 * radius).map {
                                UnsafeRawPointer(all.baseAddress! + 2 * $0 * length)
                            }
                            (radius == 4 ? code.blurRows4 : code.blurRows8)(target, places, weights, length)
                        }
                    }
                    expectNear(down, (0..<length).map { x in sum { flat[$0 * length + x] } }, "down")
                }
            }
        }
    }

    /// What comes in may be no number; what goes on is.
    @Test func makesNumbersOfWhatIsNone() throws {
        for compiler in Self.compilers {
            let code = try compiler.halfPyramidRows()
            let row: [Float16] = [.nan, .infinity, -.infinity, 1, .signalingNaN]
            let zeros = [Float16](repeating: 0, count: row.count)
            #expect(written(row.count) { code.widen($0, row, row.count) } == [0, 65504, -65504, 1, 0])
            #expect(
                written(row.count) { code.shrinkSource($0, row, zeros, zeros, zeros, row.count) }
                    == [0, 8188, -8188, 0.125, 0])
            // One among many, in each of the four rows.
            for (odd, number) in [(Float16.nan, 0.0), (.infinity, 65504), (-.infinity, -65504)] {
                for place in [0, 9, 37, 70] {
                    for (line, weight) in [0.125, 0.375, 0.375, 0.125].enumerated() {
                        var rows = [[Float16]](repeating: [Float16](repeating: 1, count: 71), count: 4)
                        rows[line][place] = odd
                        var exact = [Double](repeating: 1, count: 71)
                        exact[place] = 1 - weight + weight * number
                        expectNear(
                            written(71) { code.shrinkSource($0, rows[0], rows[1], rows[2], rows[3], 71) }, exact,
                            "shrink what is none")
                    }
                }
            }
        }
    }

    @Test func guides() throws {
        for compiler in Self.compilers {
            let code = try compiler.guidedRows()
            for length in Self.lengths {
                let rows = (0..<4).map { _ in halves(length) }
                expectNear(
                    written(length) { code.widenSquares($0, rows[0], length) },
                    rows[0].map { Double($0) * Double($0) }, "squares")
                expectNear(
                    written(length) { code.shrinkSquares($0, rows[0], rows[1], rows[2], rows[3], length) },
                    (0..<length).map { x in
                        let v = rows.map { Double($0[x]) * Double($0[x]) }
                        return (v[0] + 3 * v[1] + 3 * v[2] + v[3]) / 8
                    }, "shrunken squares")
                // Variances from 0 to 1, some below 0 as rounding makes them.
                let means = rows[0]
                let powers = means.map { Float16(Float($0) * Float($0) + Float.random(in: -0.1...1)) }
                var rises: [Double] = []
                let slopes = written(length) { slopes in
                    rises = written(length) { code.lines(slopes, $0, means, powers, 0.25, length) }
                }
                let exact = (0..<length).map { x in
                    let variance = max(0, Double(powers[x]) - Double(means[x]) * Double(means[x]))
                    return variance / (variance + 0.25)
                }
                expectNear(slopes, exact, "slopes")
                expectNear(rises, (0..<length).map { Double(means[$0]) * (1 - exact[$0]) }, "rises")
                expectNear(
                    written(length) { code.apply($0, rows[1], rows[2], rows[3], length) },
                    (0..<length).map { Double(rows[1][$0]) * Double(rows[3][$0]) + Double(rows[2][$0]) }, "applied")
                let (slope, rise) = (halves(length + 2), halves(length + 2))
                let fine = halves(2 * length)
                func grown(_ row: [Float16], _ x: Int) -> Double {
                    0.75 * Double(row[x / 2 + 1]) + 0.25 * Double(row[x / 2 + x % 2 * 2])
                }
                expectNear(
                    written(2 * length) { code.growAndApply($0, slope, rise, fine, length) },
                    (0..<2 * length).map { grown(slope, $0) * Double(fine[$0]) + grown(rise, $0) }, "grown, applied")
            }
            let odd: [Float16] = [.nan, .infinity, -.infinity, 300, -300, 3]
            let zeros = [Float16](repeating: 0, count: odd.count)
            #expect(written(odd.count) { code.widenSquares($0, odd, odd.count) } == [0, 65504, 65504, 65504, 65504, 9])
            expectNear(
                written(odd.count) { code.shrinkSquares($0, zeros, odd, zeros, zeros, odd.count) },
                [0, 65504, 65504, 33750, 33750, 3.375], "shrunken squares of what is none")
        }
    }
}
