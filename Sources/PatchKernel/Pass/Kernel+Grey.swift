extension Kernel {
    /// Whether red, green and blue of the result are the same value whatever the pixels are, when these inputs, all of them
    /// grey in memory, are read: then one channel holds them.
    ///
    /// Decided by lowering the kernel, which gives equal values one number.
    public func isGrey(reading inputs: [PassInput]) -> Bool {
        guard !inputs.isEmpty, inputs.allSatisfy({ $0.format == .gray8 || $0.format == .half1 }) else { return false }
        let description = PassDescription(kernel: self, inputs: inputs, output: PassOutput(format: .half3))
        guard let lowering = try? PassLowering(description, cpu: .host), case .planes(let values) = lowering.roots
        else {
            return false
        }
        return values.count == 3 && values[0] == values[1] && values[1] == values[2]
    }
}
