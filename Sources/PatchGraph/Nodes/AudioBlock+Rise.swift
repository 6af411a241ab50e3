import PatchMedia

extension AudioBlock {
    /// Lets sound that begins after a silence rise without a corner, along a raised cosine. What is in its way before is
    /// silenced.
    /// - Parameters:
    ///   - age: samples that came before this block.
    ///   - start: samples of silence, from the very first one.
    ///   - length: samples that the rise takes.
    public func rise(age: Int, after start: Int, over length: Int) {
        let first = min(count, max(0, start - age))
        let last = max(first, min(count, start + length - age))
        silence(count: first)
        for channel in 0..<format.channels {
            let row = self.channel(channel)
            for index in first..<last { row[index] *= Self.rise(age + index - start, of: length) }
        }
    }
}
