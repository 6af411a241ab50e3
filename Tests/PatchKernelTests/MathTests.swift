import Glibc
import PatchKernel
import PatchMedia
import Testing

/// GLSL's functions as machine code against double precision, over each function's domain.
@Suite struct MathTests {
    /// The function at `count` points, read out through two half floats: the rounded value and a thousand times what
    /// that leaves over, so that errors of single precision can be seen.
    private func evaluate(_ function: Function, at points: [Float]) throws -> [Double] {
        // Arguments come from uniforms, one row of the picture each, in chunks of 64.
        var results: [Double] = []
        let chunk = 64
        var b = KernelBuilder(
            name: function.name, inputs: [],
            uniforms: (0..<chunk).map { UniformDeclaration(name: "x\($0)", type: .float) }, alpha: .premultiplied)
        // A position-dependent zero keeps the values per pixel.
        let column = try b.apply(.toInt, [b.swizzle(b.builtin(.position), "x")])
        var x = b.uniform(0)
        for index in 1..<chunk {
            let isHere = try b.apply(.eq, [column, b.constant(Int32(index))])
            x = try b.select(isHere, b.uniform(index), x)
        }
        let y = try function.value(&b, x)
        // Bring |y| into the range of halves by a power of two, then split into three parts of 11 bits.
        let scale = try b.apply(.exp2, [b.apply(.neg, [b.apply(.floor, [b.apply(.log2, [b.apply(.abs, [y])])])])])
        let scaled = try b.apply(.mul, [y, scale])
        let high = try b.apply(
            .div, [b.apply(.round, [b.apply(.mul, [scaled, b.constant(Float(512))])]), b.constant(Float(512))])
        let rest = try b.apply(.mul, [b.apply(.sub, [scaled, high]), b.constant(Float(512))])
        let middle = try b.apply(
            .div, [b.apply(.round, [b.apply(.mul, [rest, b.constant(Float(512))])]), b.constant(Float(512))])
        let low = try b.apply(.mul, [b.apply(.sub, [rest, middle]), b.constant(Float(512))])
        let exponent = try b.apply(.log2, [scale])
        let kernel = try b.finish(try b.construct(.vec4, [high, middle, low, b.apply(.round, [exponent])]))
        let pass = try KernelCompiler().compile(
            PassDescription(kernel: kernel, inputs: [], output: PassOutput(format: .half4)))
        var start = 0
        while start < points.count {
            var uniforms = Array(points[start..<min(start + chunk, points.count)])
            let used = uniforms.count
            while uniforms.count < chunk { uniforms.append(uniforms[0]) }
            let output = TestPicture(.half4, chunk, 1)
            run(pass, [], output, uniforms: uniforms)
            for i in 0..<used {
                let parts = (0..<3).map { Double(half(output[$0, i, 0])) }
                let mantissa = parts[0] + parts[1] / 512 + parts[2] / 512 / 512
                results.append(mantissa * exp2(-Double(half(output[3, i, 0]))))
            }
            start += chunk
        }
        return results
    }

    private func points(of function: Function, _ count: Int) -> [Float] {
        let span = function.domain.upperBound - function.domain.lowerBound
        return (0..<count).map { index -> Float in
            let t = (Double(index) + 0.5) / Double(count)
            // Domains over several decades are walked by factors.
            if function.domain.lowerBound > 0, function.domain.upperBound / function.domain.lowerBound > 100 {
                return Float(
                    function.domain.lowerBound * pow(function.domain.upperBound / function.domain.lowerBound, t))
            }
            return Float(function.domain.lowerBound + span * t)
        }
    }

    /// The function as a kernel that writes 8 bits computes it: what it gives, brought to 0…1 by a scale and an offset,
    /// is cut into three bytes, which red, green and blue carry.
    private func evaluateForBytes(_ function: Function, at points: [Float], _ range: ClosedRange<Double>) throws
        -> [Double]
    {
        let chunk = 64
        var b = KernelBuilder(
            name: function.name, inputs: [],
            uniforms: (0..<chunk).map { UniformDeclaration(name: "x\($0)", type: .float) }, alpha: .premultiplied)
        let column = try b.apply(.toInt, [b.swizzle(b.builtin(.position), "x")])
        var x = b.uniform(0)
        for index in 1..<chunk {
            x = try b.select(b.apply(.eq, [column, b.constant(Int32(index))]), b.uniform(index), x)
        }
        let y = try function.value(&b, x)
        // A power of two as scale, so that nothing is lost but the offset's rounding.
        let scale = exp2(-(log2(range.upperBound - range.lowerBound)).rounded(.up) - 1)
        let offset = Float(0.25 - range.lowerBound * scale)
        let pass = try bytesPass(y, scale: scale, offset: offset, &b)
        var results: [Double] = []
        for start in stride(from: 0, to: points.count, by: chunk) {
            var uniforms = Array(points[start..<min(start + chunk, points.count)])
            let used = uniforms.count
            while uniforms.count < chunk { uniforms.append(uniforms[0]) }
            results += values(of: pass, uniforms, used, scale: scale, offset: offset)
        }
        return results
    }

    /// y · scale + offset as three bytes: red, green and blue.
    private func bytesPass(
        _ y: Value, scale: Double, offset: Float, _ b: inout KernelBuilder
    ) throws -> CompiledPass {
        var rest = try b.apply(.add, [b.apply(.mul, [y, b.constant(Float(scale))]), b.constant(offset)])
        var bytes: [Value] = []
        for _ in 0..<3 {
            let shifted = try b.apply(.mul, [rest, b.constant(Float(256))])
            let whole = try b.apply(.floor, [shifted])
            rest = try b.apply(.sub, [shifted, whole])
            bytes.append(try b.apply(.div, [whole, b.constant(Float(255))]))
        }
        let kernel = try b.finish(try b.construct(.vec4, bytes + [b.constant(Float(1))]))
        return try KernelCompiler().compile(
            PassDescription(kernel: kernel, inputs: [], output: PassOutput(format: .rgba)))
    }

    /// The y of the first `count` columns of such a pass.
    private func values(
        of pass: CompiledPass, _ uniforms: [Float], _ count: Int, scale: Double, offset: Float
    ) -> [Double] {
        let output = TestPicture(.rgba, 64, 1)
        run(pass, [], output, uniforms: uniforms)
        return (0..<count).map { i in
            let parts = (0..<3).map { Double(output[0, 4 * i + $0, 0]) }
            let unit = parts[0] / 256 + parts[1] / 65536 + (parts[2] + 0.5) / 16_777_216
            return (unit - Double(offset)) / scale
        }
    }

    /// x^g for a g that is the same for all pixels, for bases in 0…1 and 8-bit outputs: absolute errors.
    @Test(
        arguments: [0, 0.1, 0.2, 0.3, 0.45, 0.7, 0.9, 1, 1.2, 1.5, 2, 2.2, 2.6, 3, 3.5, 4, 4.5, 6, 10, 14, 16, 20]
            as [Float])
    func uniformPowers(exponent: Float) throws {
        let chunk = 64
        let names = (0..<chunk).map { UniformDeclaration(name: "x\($0)", type: .float, range: 0...1) }
        var b = KernelBuilder(
            name: "power", inputs: [],
            uniforms: names + [UniformDeclaration(name: "g", type: .float, range: 0...20)], alpha: .premultiplied)
        let column = try b.apply(.toInt, [b.swizzle(b.builtin(.position), "x")])
        var x = b.uniform(0)
        for index in 1..<chunk {
            x = try b.select(b.apply(.eq, [column, b.constant(Int32(index))]), b.uniform(index), x)
        }
        let y = try b.apply(.pow, [x, b.uniform(chunk)])
        let pass = try bytesPass(y, scale: 0.5, offset: 0.25, &b)
        var worst = 0.0
        // Down to the smallest that counts, and 0 itself.
        let points =
            (0..<4096).map { Float(exp2(-55 * Double($0) / 4096)) } + (0..<4096).map { Float($0) / 4095 } + [0, 1]
        for start in stride(from: 0, to: points.count, by: chunk) {
            var uniforms = Array(points[start..<min(start + chunk, points.count)])
            let used = uniforms.count
            while uniforms.count < chunk { uniforms.append(0) }
            for (index, value) in values(of: pass, uniforms + [exponent], used, scale: 0.5, offset: 0.25).enumerated() {
                let exact = pow(Double(uniforms[index]), Double(exponent))
                worst = max(worst, abs(value - exact))
            }
        }
        print("x^\(exponent): \(Float(worst))")
        // Beyond 16 the error of the logarithm, times the exponent.
        let bound = exponent <= 4 ? 1.35e-5 : exponent <= 16 ? 1.6e-5 : 4.2e-6 * Double(exponent)
        #expect(worst <= bound + 2.4e-7)
        // What is not above 0 counts as 0.
        let edge = values(
            of: pass, [-1, .nan] + [Float](repeating: 0, count: chunk - 2) + [exponent], 2, scale: 0.5, offset: 0.25)
        for value in edge { #expect(abs(value - (exponent == 0 ? 1 : 0)) < 1e-6) }
    }

    @Test func errorTableForBytes() throws {
        var table = "function        largest error for 8-bit outputs   bound\n"
        for function in Self.coarse {
            let points = points(of: function, 4096)
            let exact = points.map { function.exact(Double($0)) }
            let range = (exact.min() ?? 0)...(exact.max() ?? 1)
            let values = try evaluateForBytes(function, at: points, range)
            var (worst, place) = (0.0, Float(0))
            for index in points.indices where !(abs(values[index] - exact[index]) <= worst) {
                (worst, place) = (abs(values[index] - exact[index]), points[index])
            }
            // What cutting into bytes adds: half of the last place, and the offset's rounding.
            let resolution = (range.upperBound - range.lowerBound) * 2 * 1.2e-7
            table += "\(function.name): \(Float(worst)), at most \(function.bound)\n"
            #expect(worst <= function.bound + resolution, "\(function.name) at \(place)")
        }
        print(table)
    }

    @Test func errorTable() throws {
        var table = "function        largest error   bound\n"
        for function in Self.functions {
            let points = points(of: function, 4096)
            let values = try evaluate(function, at: points)
            var worst = 0.0
            var place: Float = 0
            for (x, value) in zip(points, values) {
                let exact = function.exact(Double(x))
                let error = abs(value - exact) / max(abs(exact), max(function.floor, 1e-30))
                if !(error <= worst) { (worst, place) = (error, x) }
            }
            func padded(_ text: String, _ width: Int) -> String {
                text + String(repeating: " ", count: max(1, width - text.count))
            }
            table += padded(function.name, 16) + padded("\(Float(worst))", 16) + "\(function.bound)\n"
            #expect(worst <= function.bound, "\(function.name) at \(place)")
        }
        print(table)
    }

    /// No word of the language is left out: what is not in the table works on truth values, whole numbers or bits.
    @Test func tableIsComplete() {
        let others: Set<Operation> = [
            .lt, .le, .gt, .ge, .eq, .ne, .and, .or, .not, .any, .all, .toInt, .toFloat, .toBool, .hash,
        ]
        let missing = Set(Operation.allCases).subtracting(Self.functions.map(\.operation)).subtracting(others)
        #expect(missing.isEmpty, "not in the table: \(missing.map(\.rawValue).sorted())")
    }
}
