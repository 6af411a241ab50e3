import PatchKernel
import Testing

/// Pixels laid over planes and over a colour, against sums in double precision, on several processors.
@Suite struct LayingRowTests {
    private static let compilers =
        [KernelCompiler()] + ProcessorLevel.runnable.map { KernelCompiler(CompilerOptions(processor: $0)) }
    private static let lengths = [1, 2, 3, 7, 15, 16, 17, 32, 33, 64, 77]

    /// Premultiplied pixels: runs of opaque, of clear and of see-through ones.
    private func pixels(_ count: Int) -> [UInt8] {
        var kind = 0
        return (0..<count).flatMap { index -> [UInt8] in
            if index % 20 == 0 { kind = Int.random(in: 0...2) }
            let alpha = kind == 0 ? 255 : kind == 1 ? 0 : Int.random(in: 0...255)
            return (0..<3).map { _ in UInt8(Int.random(in: 0...255) * alpha / 255) } + [UInt8(alpha)]
        }
    }

    /// Weights of the components 0…3 for each of three planes, in codes.
    private let planes: [[Double]] = [
        [0.257, 0.504, 0.098, 16.0 / 255], [-0.148, -0.291, 0.439, 128.0 / 255], [0.439, -0.368, -0.071, 128.0 / 255],
    ]

    private func numbers(_ planes: [[Double]], _ opacity: Double, share: Double) -> [Int16] {
        planes.flatMap { w in [w[0], w[2], w[1], w[3]].map { Int16(($0 * 32768 * opacity * share).rounded()) } }
            + [Int16(bitPattern: UInt16((opacity * 65535).rounded()))]
    }

    /// Runs a function on rows of pixels (the first of which begins a pixel early) and compares each plane's codes.
    private func check(
        _ laid: RowCode.Laid, _ kinds: [[Double]], columns: [Double], step: Int, rows: [Double], _ name: String
    ) {
        for length in Self.lengths {
            for opacity in [1, 0.37] {
                let pictures = rows.map { _ in pixels(length * step + 2) }
                let below = kinds.map { _ in (0..<length).map { _ in UInt8.random(in: 0...255) } }
                var targets = below.map { $0 + [UInt8](repeating: 99, count: 40) }
                let share = 1 / (columns.reduce(0, +) * rows.reduce(0, +))
                let flat = pictures.flatMap { $0 }
                let under = below.flatMap { $0 }
                var made = targets.flatMap { $0 }
                made.withUnsafeMutableBytes { out in
                    flat.withUnsafeBytes { all in
                        under.withUnsafeBytes { held in
                            let places =
                                kinds.indices.map { UnsafeRawPointer(out.baseAddress! + $0 * (length + 40)) }
                                + kinds.indices.map { held.baseAddress! + $0 * length }
                                + rows.indices.map { all.baseAddress! + $0 * (length * step + 2) * 4 + 4 }
                            laid(places, numbers(kinds, opacity, share: share), length)
                        }
                    }
                }
                for (plane, weights) in kinds.enumerated() {
                    for x in 0..<length {
                        var (color, alpha) = (0.0, 0.0)
                        for (row, rowWeight) in rows.enumerated() {
                            for (column, columnWeight) in columns.enumerated() {
                                let weight = rowWeight * columnWeight * share * opacity
                                // Of three columns the middle one is pixel 2x.
                                let at = 4 * (x * step + column + (columns.count == 3 ? 0 : 1))
                                for c in 0..<4 { color += weight * weights[c] * Double(pictures[row][at + c]) }
                                alpha += weight * Double(pictures[row][at + 3]) / 255
                            }
                        }
                        let exact = max(0, min(255, color + Double(below[plane][x]) * (1 - alpha)))
                        targets[plane][x] = made[plane * (length + 40) + x]
                        #expect(
                            abs(Double(targets[plane][x]) - exact) <= 0.6,
                            "\(name), plane \(plane), \(x) of \(length): \(targets[plane][x]), not \(exact)")
                    }
                    let after = made[plane * (length + 40) + length..<(plane + 1) * (length + 40)]
                    #expect(after.allSatisfy { $0 == 99 }, "wrote beyond its row")
                }
            }
        }
    }

    @Test func laysPixelsOverPlanes() throws {
        for compiler in Self.compilers {
            let code = try compiler.layingRows()
            let chroma = Array(planes[1...])
            check(code.luma, [planes[0]], columns: [1], step: 1, rows: [1], "luma")
            check(code.whole, chroma, columns: [1], step: 1, rows: [1], "whole")
            for (kind, columns, name) in [(code.pairs, [1.0, 1], "pairs"), (code.triples, [1, 2, 1], "triples")] {
                check(kind.one, chroma, columns: columns, step: 2, rows: [1], name)
                check(kind.two, chroma, columns: columns, step: 2, rows: [1, 1], name)
                check(kind.three, chroma, columns: columns, step: 2, rows: [1, 2, 1], name)
            }
        }
    }

    /// Every code under every alpha, and runs of clear ones.
    @Test func laysWhatWasKept() throws {
        for compiler in Self.compilers {
            let code = try compiler.layingRows()
            for length in Self.lengths + [65_536 + 13] {
                let alpha = (0..<length).map { $0 % 200 < 77 && length < 1000 ? 0 : UInt8($0 & 255) }
                let more = alpha.map { $0 == 0 ? 0 : UInt8.random(in: 0...$0) }
                let below = (0..<length).map { UInt8($0 >> 8 & 255) }
                var made = below + [UInt8](repeating: 99, count: 40)
                made.withUnsafeMutableBytes { row in
                    more.withUnsafeBytes { more in
                        alpha.withUnsafeBytes { code.lay(row.baseAddress!, more.baseAddress!, $0.baseAddress!, length) }
                    }
                }
                for x in 0..<length {
                    let left = (Double(below[x]) * Double(255 - alpha[x]) / 255).rounded()
                    let exact = min(255, left + Double(more[x]))
                    if Double(made[x]) != exact { Issue.record("\(x) of \(length): \(made[x]), not \(exact)") }
                }
                #expect(made[length...].allSatisfy { $0 == 99 }, "wrote beyond its row")
            }
        }
    }

    @Test func settlesPixelsOnAColor() throws {
        let color = [200.0, 30, 90, 255]
        for compiler in Self.compilers {
            let code = try compiler.layingRows()
            for length in Self.lengths {
                for opacity in [1, 0.37] {
                    let source = pixels(length)
                    var made = source + [UInt8](repeating: 99, count: 40)
                    let numbers = [color[0], color[2], color[1], color[3]].map { UInt16($0 * 257) }
                    made.withUnsafeMutableBytes {
                        code.settle($0.baseAddress!, numbers + [UInt16((opacity * 65535).rounded())], length)
                    }
                    for index in source.indices {
                        let alpha = Double(source[index | 3]) / 255 * opacity
                        let exact = Double(source[index]) * opacity + color[index % 4] * (1 - alpha)
                        #expect(abs(Double(made[index]) - exact) <= 0.6, "\(index) of \(length)")
                        if opacity == 1, source[index | 3] == 255 { #expect(made[index] == source[index]) }
                    }
                    #expect(made[(4 * length)...].allSatisfy { $0 == 99 }, "wrote beyond its row")
                }
            }
        }
    }
}
