import PatchMedia

/// A filter for sound: changes blocks in place, tick by tick.
///
/// Life: `prepare` once, then `process` for each tick. A node whose channels change on air is made anew.
/// Thread-safety: `prepare` is called on a control thread; `process` on the engine's clock thread, one call at a time.
public protocol SoundProcessor: AnyObject, Sendable {
    /// Samples by which what comes out lags behind what went in; constant after `prepare`. Told to people, and counted when
    /// sound and picture are held together.
    var latency: Int { get }
    /// - Parameters:
    ///   - format: of every block: 48 kHz, 1…8 channels.
    ///   - longestBlock: samples a channel that a block has at most.
    /// - Throws: `PatchError` when it cannot work so.
    func prepare(_ format: AudioFormat, longestBlock: Int) throws
    /// Changes the `block.count` samples of each channel. Allocates nothing, waits for nobody.
    func process(_ block: AudioBlock, _ parameters: SoundParameters)
}

extension SoundProcessor {
    public var latency: Int { 0 }
    public func prepare(_ format: AudioFormat, longestBlock: Int) throws {}
}

/// A sound node's parameters over one block: their values at its first sample and after its last. Whoever goes from one to
/// the other in a straight line makes no clicks.
///
/// Thread-safety: valid during `process` only, on its thread.
public struct SoundParameters {
    private let begins: UnsafePointer<Float>
    private let ends: UnsafePointer<Float>

    public init(from begins: UnsafePointer<Float>, to ends: UnsafePointer<Float>) {
        self.begins = begins
        self.ends = ends
    }

    /// - Parameter index: counts floats, in the order of the schema's parameters.
    public subscript(index: Int) -> (begin: Float, end: Float) { (begins[index], ends[index]) }
}
