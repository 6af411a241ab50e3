import PatchMedia

extension AudioBlock {
    /// Lets sound that begins after a silence rise without a corner, along a raised cosine.
    /// - Parameters:
    ///   - age: samples that came before this block.
    ///   - start: samples of silence, from the very first one.
    ///   - length: samples that the rise takes.
    public func rise(age: Int, after start: Int, over length: Int) {
        let first = max(0, start - age)
        let last = min(count, start + length - age)
        guard first < last else { return }
        for channel in 0..<format.channels {
            let row = self.channel(channel)
            for index in first..<last { row[index] *= Self.rise(age + index - start, of: length) }
        }
    }
}
