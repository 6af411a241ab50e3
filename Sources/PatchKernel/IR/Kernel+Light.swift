extension Kernel {
    /// A kernel for any space, weighing light instead of encoded values: its inputs, its result and its colours are linear.
    ///
    /// Light is R'G'B''s: the result no longer works in any space.
    /// - Parameter weights: inputs whose numbers weigh and are no colours: they stay as they are.
    public func inLinearLight(except weights: Set<Int> = []) -> Kernel {
        var inputs = inputs
        for index in inputs.indices where !weights.contains(index) { inputs[index].light = .linear }
        var nodes = nodes
        for index in nodes.indices where nodes[index].kind == .convert(.fromRGB) {
            nodes[index].kind = .convert(.linearize)
        }
        return Kernel(
            name: name, inputs: inputs, uniforms: uniforms, light: .linear, alpha: alpha, space: .rgb, nodes: nodes,
            result: result)
    }
}
