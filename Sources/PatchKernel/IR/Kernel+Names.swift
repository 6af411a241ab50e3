extension Kernel {
    /// The same computation without its names: kernels that differ in these alone share their machine code.
    var nameless: Kernel {
        Kernel(
            name: "kernel",
            inputs: inputs.enumerated().map { InputDeclaration(name: "i\($0)", light: $1.light, alpha: $1.alpha) },
            uniforms: uniforms.enumerated().map {
                UniformDeclaration(name: "u\($0)", type: $1.type, range: $1.range)
            },
            light: light, alpha: alpha, space: space, nodes: nodes, result: result)
    }
}

extension PassDescription {
    /// What machine code depends on.
    var nameless: PassDescription {
        var copy = self
        copy.kernel = kernel.nameless
        return copy
    }
}
