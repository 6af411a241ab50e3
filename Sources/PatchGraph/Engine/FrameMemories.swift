import PatchMedia

/// The pictures that a plan remembers from tick to tick, as rings of frames.
///
/// Allocates nothing after `init`: frames are held, not copied.
/// Thread-safety: as `PlanExecutor`, which owns it.
final class FrameMemories {
    private struct Memory {
        var key: PlanMemory.Key
        var source: Int
        /// Where its frames lie in `frames`; the newest is before `next`.
        var range: Range<Int>
        var next = 0
        var count = 0
    }
    private struct Output {
        var memory: Int
        var slot: Int
        var ticks: Int
    }

    private let memories: UnsafeMutableBufferPointer<Memory>
    private let outputs: UnsafeMutableBufferPointer<Output>
    private let frames: UnsafeMutableBufferPointer<Frame?>
    /// What a memory that begins blank shows at first.
    private let blanks: UnsafeMutableBufferPointer<Frame?>

    init(_ planned: [PlanMemory]) {
        memories = .allocate(capacity: planned.count)
        blanks = .allocate(capacity: planned.count)
        outputs = .allocate(capacity: planned.reduce(0) { $0 + $1.outputs.count })
        frames = .allocate(capacity: planned.reduce(0) { $0 + $1.depth })
        frames.initialize(repeating: nil)
        var (first, place) = (0, 0)
        for (index, memory) in planned.enumerated() {
            memories.initializeElement(
                at: index,
                to: Memory(key: memory.key, source: memory.source, range: first..<first + memory.depth))
            blanks.initializeElement(at: index, to: memory.beginsBlank ? Frame(blank: memory.key.format) : nil)
            first += memory.depth
            for output in memory.outputs {
                outputs.initializeElement(at: place, to: Output(memory: index, slot: output.slot, ticks: output.ticks))
                place += 1
            }
        }
    }

    deinit {
        memories.deinitialize().deallocate()
        outputs.deinitialize().deallocate()
        frames.deinitialize().deallocate()
        blanks.deinitialize().deallocate()
    }

    /// Puts the remembered pictures into their slots: as many ticks back as wanted, or as there are.
    func recall(into slots: UnsafeMutableBufferPointer<Frame?>) {
        for output in outputs {
            let memory = memories[output.memory]
            if memory.count == 0 {
                slots[output.slot] = blanks[output.memory]
            } else {
                let depth = memory.range.count
                let place = (memory.next - min(output.ticks, memory.count) + depth) % depth
                slots[output.slot] = frames[memory.range.lowerBound + place]
            }
        }
    }

    /// Remembers this tick's pictures. A picture that was not made in this tick leaves the memory as it is.
    func capture(from slots: UnsafeMutableBufferPointer<Frame?>) {
        for index in memories.indices {
            guard let frame = slots[memories[index].source], frame.format == memories[index].key.format else {
                continue
            }
            frames[memories[index].range.lowerBound + memories[index].next] = frame
            memories[index].next = (memories[index].next + 1) % memories[index].range.count
            memories[index].count = min(memories[index].count + 1, memories[index].range.count)
        }
    }

    /// What a memory gives is needed: so is what it takes. Returns whether that is new.
    func demand(_ needed: UnsafeMutableBufferPointer<Bool>) -> Bool {
        var isNew = false
        for output in outputs where needed[output.slot] {
            let source = memories[output.memory].source
            if !needed[source] {
                needed[source] = true
                isNew = true
            }
        }
        return isNew
    }

    /// Goes on with what the memories of an earlier plan hold, where they are of the same node, format and work.
    func inherit(from other: FrameMemories) {
        for index in memories.indices {
            guard let known = other.memories.first(where: { $0.key == memories[index].key }) else { continue }
            let depth = memories[index].range.count
            let kept = min(depth, known.count)
            for age in (0..<kept).reversed() {
                let place = (known.next - 1 - age + known.range.count) % known.range.count
                frames[memories[index].range.lowerBound + memories[index].next] =
                    other.frames[known.range.lowerBound + place]
                memories[index].next = (memories[index].next + 1) % depth
            }
            memories[index].count = kept
        }
    }
}
