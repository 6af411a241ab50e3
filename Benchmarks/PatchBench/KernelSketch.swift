import PatchKernel

/// A kernel under construction, with the operations spelled as one writes them.
struct KernelSketch {
    var builder: KernelBuilder
    private(set) var uniformValues: [Float] = []

    /// A kernel of one picture, named "image", and of uniforms that are given with their values.
    init(
        _ name: String, inputs: [InputDeclaration] = [InputDeclaration(name: "image")],
        uniforms: [(String, [Float])] = [], alpha: Alpha = .straight, space: KernelSpace = .rgb
    ) {
        builder = KernelBuilder(
            name: name, inputs: inputs,
            uniforms: uniforms.map { UniformDeclaration(name: $0.0, type: Self.type(of: $0.1)) }, alpha: alpha,
            space: space)
        uniformValues = uniforms.flatMap { $0.1 }
    }

    private static func type(of values: [Float]) -> ValueType {
        values.count == 9 ? .mat3 : .vector(values.count)
    }

    mutating func number(_ value: Double) -> Value { builder.constant(Float(value)) }
    mutating func apply(_ operation: PatchKernel.Operation, _ arguments: Value...) throws -> Value {
        try builder.apply(operation, arguments)
    }
    mutating func add(_ a: Value, _ b: Value) throws -> Value { try apply(.add, a, b) }
    mutating func sub(_ a: Value, _ b: Value) throws -> Value { try apply(.sub, a, b) }
    mutating func mul(_ a: Value, _ b: Value) throws -> Value { try apply(.mul, a, b) }
    mutating func part(_ value: Value, _ letters: String) throws -> Value { try builder.swizzle(value, letters) }
    mutating func clamp(_ value: Value) throws -> Value { try apply(.clamp, value, number(0), number(1)) }
    mutating func uniform(_ index: Int) -> Value { builder.uniform(index) }
    mutating func image() -> Value { builder.current(0) }

    /// Weighted sum of values.
    mutating func sum(_ terms: [(Double, Value)]) throws -> Value {
        var result: Value?
        for (weight, value) in terms {
            let term = weight == 1 ? value : try mul(value, number(weight))
            result = if let result { try add(result, term) } else { term }
        }
        guard let result else { throw BenchProblem("an empty sum") }
        return result
    }

    /// A kernel that changes colour and keeps alpha.
    mutating func finish(color: Value) throws -> Filter {
        let pixel = try builder.construct(.vec4, [color, part(image(), "a")])
        return Filter(kernel: try builder.finish(pixel), uniforms: uniformValues)
    }
    mutating func finish(_ pixel: Value) throws -> Filter {
        Filter(kernel: try builder.finish(pixel), uniforms: uniformValues)
    }
}

/// A kernel and the values of its uniforms.
struct Filter: Sendable {
    var kernel: Kernel
    var uniforms: [Float]

    /// One kernel that does these one after the other.
    static func chain(_ filters: [Filter]) throws -> Filter {
        guard var result = filters.first else { throw BenchProblem("an empty chain") }
        for next in filters.dropFirst() {
            result = Filter(
                kernel: try next.kernel.inlining(result.kernel, asInput: 0),
                // A fused kernel's uniforms are the consumer's, then the producer's.
                uniforms: next.uniforms + result.uniforms)
        }
        return result
    }
}
