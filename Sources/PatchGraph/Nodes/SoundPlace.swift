import PatchMedia

/// From where on a source's time line its sound is taken, beside the picture.
struct SoundPlace {
    /// Samples by which the sound is to be later, as the source's `offset` says.
    var offset = 0
    /// Samples by which the graph wants it sooner.
    var lead = 0
    /// What the sound fades from when the place changes; ticks of up to 100 ms fit.
    private let scratch: AudioBlock?
    /// The place of the block before.
    private var former: Int?
    private let edges = SoundEdges()

    init(_ format: AudioFormat?) {
        scratch = format.map { AudioBlock(format: $0, capacity: SoundRing.rate / 10) }
    }

    /// Samples by which the sound is taken later than what is due.
    var delay: Int { offset - lead }

    /// Samples that are kept for a place to come: what the sound fades to, when it is to be later, was before.
    static let history: Int64 = 48_000

    /// The first sample that may be asked for when `sample` is due.
    func earliest(of sample: Int64) -> Int64 { sample - Int64(max(delay, former ?? delay)) - Self.history }
    func latest(of sample: Int64) -> Int64 { sample - Int64(min(delay, former ?? delay)) }

    /// - Parameter isSmooth: holes and jumps are made soft.
    mutating func read(_ ring: SoundRing, at sample: Int64, into block: AudioBlock, isSmooth: Bool) -> Bool {
        let before = former ?? delay
        former = delay
        guard before != delay, let scratch, scratch.format == block.format, scratch.capacity >= block.count else {
            return ring.read(from: sample - Int64(delay), into: block, edges: isSmooth ? edges : nil)
        }
        scratch.count = block.count
        let wasFound = ring.read(from: sample - Int64(before), into: scratch)
        let isFound = ring.read(from: sample - Int64(delay), into: block)
        for channel in 0..<block.format.channels {
            let (old, new) = (scratch.channel(channel), block.channel(channel))
            for index in 0..<block.count {
                old[index] += (new[index] - old[index]) * AudioBlock.rise(index, of: block.count)
                new[index] = old[index]
            }
        }
        if isSmooth { edges.moved(to: sample - Int64(delay) + Int64(block.count), block) }
        return wasFound || isFound
    }
}
