import PatchKernel
import Testing

/// Code over rows against sums written out in whole numbers, at lengths around a step's, on several processors.
@Suite struct RowCodeTests {
    private static let compilers =
        [KernelCompiler()] + ProcessorLevel.runnable.map { KernelCompiler(CompilerOptions(processor: $0)) }
    private static let lengths = [1, 2, 3, 7, 16, 31, 32, 33, 64, 77, 130]

    private var random = SystemRandomNumberGenerator()

    private mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in Bool.random(using: &random) ? UInt8.random(in: 0...255, using: &random) : 255 }
    }
    private mutating func samples(_ count: Int) -> [UInt16] {
        (0..<count).map { _ in Bool.random(using: &random) ? UInt16.random(in: 0...32640, using: &random) : 32640 }
    }

    /// What a function writes, and nothing after it.
    private func written<T: FixedWidthInteger>(
        _ count: Int, _ write: (UnsafeMutableRawPointer) -> Void
    ) -> [T] {
        var target = [T](repeating: 99, count: count + 40)
        target.withUnsafeMutableBytes { write($0.baseAddress!) }
        #expect(target[count...].allSatisfy { $0 == 99 }, "wrote beyond its row")
        return Array(target[..<count])
    }

    @Test mutating func halves() throws {
        for compiler in Self.compilers {
            let code = try compiler.resizingRows()
            for (components, halve) in [(1, code.halve.one), (2, code.halvePairs), (4, code.halve.four)] {
                for length in Self.lengths {
                    let (a, b) = (bytes(2 * length * components), bytes(2 * length * components))
                    let made: [UInt8] = written(length * components) { halve($0, a, b, length) }
                    let expected = (0..<length * components).map { index -> UInt8 in
                        let at = index / components * 2 * components + index % components
                        let sum = Int(a[at]) + Int(a[at + components]) + Int(b[at]) + Int(b[at + components])
                        return UInt8((sum + 2) / 4)
                    }
                    #expect(made == expected, "\(components) components, \(length) pixels")
                }
            }
        }
    }

    @Test mutating func weighs() throws {
        for compiler in Self.compilers {
            let code = try compiler.resizingRows()
            for length in Self.lengths {
                for weights in [[32768], [20000, 12768], [10000, 3, 12765, 10000]] as [[UInt16]] {
                    let rows = weights.map { _ in bytes(length) }
                    let flat = rows.flatMap { $0 }
                    let made: [UInt16] = written(length) { target in
                        flat.withUnsafeBytes { all in
                            let places = weights.indices.map { UnsafeRawPointer(all.baseAddress! + $0 * length) }
                            code.weigh(target, places, weights, weights.count, length)
                        }
                    }
                    let expected = (0..<length).map { index in
                        UInt16(zip(rows, weights).reduce(0) { $0 + Int($1.0[index]) * 256 * Int($1.1) / 65536 })
                    }
                    #expect(made == expected, "\(weights), \(length) samples")
                }
            }
        }
    }

    @Test mutating func sumsAcross() throws {
        for compiler in Self.compilers {
            let code = try compiler.resizingRows()
            for (components, across) in [(1, code.across.one), (2, code.acrossPairs), (4, code.across.four)] {
                for length in Self.lengths {
                    for pairs in [1, 2, 5] {
                        let source = samples((2 * length + 2 * pairs) * components)
                        let first = (0..<length).map { _ in
                            Int32(Int.random(in: 0...2 * length, using: &random) * components)
                        }
                        var weights = [Int16](repeating: 0, count: 2 * pairs * length)
                        for x in 0..<length {
                            var left = 16384
                            for tap in 0..<2 * pairs {
                                let part = tap == 2 * pairs - 1 ? left : Int.random(in: 0...left, using: &random)
                                weights[2 * (tap / 2 * length + x) + tap % 2] = Int16(part)
                                left -= part
                            }
                        }
                        let made: [UInt8] = written(length * components) {
                            across($0, source, first, weights, pairs, length)
                        }
                        let expected = (0..<length * components).map { index -> UInt8 in
                            let (x, c) = (index / components, index % components)
                            let sum = (0..<2 * pairs).reduce(0) { sum, tap in
                                sum + Int(source[Int(first[x]) + tap * components + c])
                                    * Int(weights[2 * (tap / 2 * length + x) + tap % 2])
                            }
                            return UInt8((sum + 1 << 20) >> 21)
                        }
                        #expect(made == expected, "\(components) components, \(length) pixels, \(pairs) pairs")
                    }
                }
            }
        }
    }

    @Test mutating func convertsAndShrinksAndGrows() throws {
        for compiler in Self.compilers {
            let code = try compiler.pyramidRows()
            for length in Self.lengths {
                let codes = bytes(length)
                let wide: [UInt16] = written(length) { code.widen($0, codes, length) }
                #expect(wide == codes.map { UInt16($0) * 128 })
                let values = samples(length)
                let back = try #require(code.narrow)
                let narrow: [UInt8] = written(length) { back($0, values, length) }
                #expect(narrow == values.map { UInt8((Int($0) + 64) / 128) })

                let rows = (0..<4).map { _ in bytes(length) }
                let shrunk: [UInt16] = written(length) {
                    code.shrinkSource($0, rows[0], rows[1], rows[2], rows[3], length)
                }
                #expect(
                    shrunk
                        == (0..<length).map { x in
                            let (a, b) = (Int(rows[0][x]) + Int(rows[3][x]), Int(rows[1][x]) + Int(rows[2][x]))
                            return UInt16((a + 3 * b) * 16)
                        })
                let tall = (0..<4).map { _ in samples(length) }
                let smaller: [UInt16] = written(length) {
                    code.shrinkRows($0, tall[0], tall[1], tall[2], tall[3], length)
                }
                for x in 0..<length {
                    let exact =
                        Double(tall[0][x]) + 3 * Double(tall[1][x]) + 3 * Double(tall[2][x]) + Double(tall[3][x])
                    #expect(abs(Double(smaller[x]) - exact / 8) <= 1.5)
                }
                for components in [1, 4] {
                    let row = samples((2 * length + 2) * components)
                    let half: [UInt16] = written(length * components) { code.shrinkAcross[components]($0, row, length) }
                    for index in half.indices {
                        let at = index / components * 2 * components + index % components
                        let taps = (0..<4).map { Double(row[at + $0 * components]) }
                        let exact = (taps[0] + 3 * taps[1] + 3 * taps[2] + taps[3]) / 8
                        #expect(abs(Double(half[index]) - exact) <= 1.5)
                    }
                    let double: [UInt16] = written(2 * length * components) {
                        code.growAcross[components]($0, row, length)
                    }
                    let asCodes: [UInt8] = written(2 * length * components) {
                        code.growAcrossToResult[components]($0, row, length)
                    }
                    for index in double.indices {
                        let (pixel, c) = (index / components, index % components)
                        let near = Int(row[(pixel / 2 + 1) * components + c])
                        let far = Int(row[(pixel / 2 + pixel % 2 * 2) * components + c])
                        let sum = near + (far - near) >> 2
                        #expect(Int(double[index]) == sum)
                        #expect(Int(asCodes[index]) == (sum + 64) / 128)
                    }
                }
                let (near, far) = (samples(length), samples(length))
                let grown: [UInt16] = written(length) { code.growRows($0, near, far, length) }
                for x in 0..<length {
                    let (a, b) = (Int(near[x]), Int(far[x]))
                    let sum = a + (b - a) >> 2
                    #expect(Int(grown[x]) == sum)
                }
            }
        }
    }

    @Test mutating func blurs() throws {
        // Of sigma 1.2 and 2.6, in 65536ths; each sums to one with its other side.
        let kinds: [(Int, [UInt16])] = [
            (4, [21844, 15437, 5447, 959, 3]), (8, [10080, 9361, 7500, 5183, 3089, 1589, 704, 270, 32]),
        ]
        for compiler in Self.compilers {
            let code = try compiler.pyramidRows()
            for (radius, weights) in kinds {
                #expect(Int(weights[0]) + 2 * weights.dropFirst().reduce(0) { $0 + Int($1) } <= 65536)
                for length in Self.lengths {
                    for components in [1, 4] {
                        let row = samples((length + 2 * radius) * components)
                        let blur = (radius == 4 ? code.blurAcross4 : code.blurAcross8)[components]
                        let made: [UInt16] = written(length * components) { target in
                            row.withUnsafeBytes {
                                blur(target, $0.baseAddress! + 2 * radius * components, weights, length)
                            }
                        }
                        for index in made.indices {
                            let exact = (0...2 * radius).reduce(0.0) {
                                $0 + Double(row[index + $1 * components]) * Double(weights[abs($1 - radius)]) / 65536
                            }
                            #expect(abs(Double(made[index]) - exact) <= Double(radius) / 2 + 1)
                        }
                    }
                    let rows = (0...2 * radius).map { _ in samples(length) }
                    let flat = rows.flatMap { $0 }
                    let made: [UInt16] = written(length) { target in
                        flat.withUnsafeBytes { all in
                            let places = rows.indices.map { UnsafeRawPointer(all.baseAddress! + 2 * $0 * length) }
                            (radius == 4 ? code.blurRows4 : code.blurRows8)(target, places, weights, length)
                        }
                    }
                    for x in made.indices {
                        let exact = rows.indices.reduce(0.0) {
                            $0 + Double(rows[$1][x]) * Double(weights[abs($1 - radius)]) / 65536
                        }
                        #expect(abs(Double(made[x]) - exact) <= Double(radius) / 2 + 1)
                    }
                }
            }
        }
    }
}
