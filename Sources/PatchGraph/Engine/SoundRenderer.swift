import PatchMedia

/// The sound of a tick: takes it from the sources, runs the sound filters, adds what each sink hears.
///
/// Each source and filter is asked once a tick, whoever hears it. On the tick on which a plan goes on air, wires that it does
/// not have any more fade out and new ones fade in, so that changing a chain makes no click. The wires of both plans together
/// never make a loop (`Engine.soundTangle`).
/// Allocates only when a plan is new. Used on the clock thread.
struct SoundRenderer {
    /// Samples that a tick has at most: a frame a second at 48 kHz.
    static let longestBlock = SoundRing.rate + 1
    /// Samples that a fade takes at most: 20 ms.
    private static let longestFade = 960

    private let rate: FrameRate
    private var pools: [AudioFormat: AudioBlockPool] = [:]
    private var now = Side()
    /// The plan before, on the tick of the change only.
    private var before: Side?
    /// What sinks no longer hear and still waits for its picture.
    private var leaving: [Leaving] = []

    private struct Leaving {
        let sink: Instance
        let line: SoundDelayLine
        let format: AudioFormat
        let delay: Int
        /// Samples that are still to be heard.
        var left: Int
    }

    /// A plan's blocks at this tick, by its sounds.
    private struct Side {
        var executor: PlanExecutor?
        var blocks: [AudioBlock?] = []
        var isDone: [Bool] = []
        /// For each sink, a line for each sound that it hears.
        var lines: [[SoundDelayLine]] = []

        init(_ executor: PlanExecutor? = nil) {
            self.executor = executor
            let count = executor?.plan.sounds.count ?? 0
            blocks = Array(repeating: nil, count: count)
            isDone = Array(repeating: false, count: count)
        }
    }

    init(rate: FrameRate) { self.rate = rate }

    /// Begins a tick.
    mutating func begin(_ executor: PlanExecutor) {
        guard now.executor !== executor else { return }
        let old = now
        now = Side(executor)
        now.lines = executor.plan.sinks.indices.map { lines(ofSink: $0, executor, old) }
        for source in executor.sources {
            if case .source(let media, _) = source.body { media.leadSound(by: executor.plan.soundLead) }
        }
        if old.executor != nil { before = old }
    }

    /// Delay lines for what a sink hears; what it heard before goes on.
    private func lines(ofSink index: Int, _ executor: PlanExecutor, _ old: Side) -> [SoundDelayLine] {
        let planned = executor.plan.sinks[index]
        let former = old.executor?.sinks.firstIndex { $0 === executor.sinks[index] }
        return planned.sounds.enumerated().map { place, sound in
            let (format, delay) = (executor.plan.sounds[sound].format, planned.soundDelays[place])
            var known: SoundDelayLine?
            if let former, let before = old.executor {
                let heard = before.plan.sinks[former].sounds.firstIndex {
                    before.sounds[$0] === executor.sounds[sound]
                }
                known = heard.map { old.lines[former][$0] }
            }
            if let known, known.fits(format, delay) { return known }
            let made = SoundDelayLine(channels: format.channels, longest: delay)
            if let known { made.inherit(from: known) }
            return made
        }
    }

    /// What the sink hears at this tick, in its own format; nil when it takes no sound.
    mutating func block(forSink index: Int, at tick: Tick) -> AudioBlock? {
        guard let executor = now.executor, let format = executor.plan.sinks[index].audio else { return nil }
        let heard = executor.plan.sinks[index].sounds
        var former: [Int] = []
        var waits = Waits(delays: executor.plan.sinks[index].soundDelays, lines: now.lines[index])
        if let old = before?.executor, let place = old.sinks.firstIndex(where: { $0 === executor.sinks[index] }) {
            former = old.plan.sinks[place].sounds
            waits.formerDelays = old.plan.sinks[place].soundDelays
            waits.formerLines = before?.lines[place] ?? []
        } else if heard.isEmpty, !leaving.contains(where: { $0.sink === executor.sinks[index] }) {
            return nil
        }
        waits.sink = executor.sinks[index]
        return sum(heard, former, isNew: before == nil || former.isEmpty && heard.isEmpty, format, at: tick, waits)
    }

    /// Runs what runs though nobody may hear it.
    mutating func runMeters(at tick: Tick) {
        for index in now.executor?.plan.meters ?? [] { _ = block(of: index, at: tick) }
    }

    /// Ends a tick: blocks go back to their pools.
    mutating func end() {
        now.executor?.endSound()
        before = nil
        for index in now.blocks.indices {
            now.blocks[index] = nil
            now.isDone[index] = false
        }
    }

    // MARK: One node

    private mutating func block(of index: Int, at tick: Tick) -> AudioBlock? {
        if now.isDone[index] { return now.blocks[index] }
        now.isDone[index] = true
        guard let executor = now.executor else { return nil }
        var former: [Int]?
        if let old = before?.executor,
            let place = old.sounds.firstIndex(where: { $0 === executor.sounds[index] })
        {
            former = old.plan.sounds[place].inputs
        }
        let made = make(index, executor, former, at: tick)
        now.blocks[index] = made
        return made
    }

    /// A block of the plan before: that of the same node in the present plan, if it has one.
    private mutating func formerBlock(of index: Int, at tick: Tick) -> AudioBlock? {
        guard let old = before?.executor else { return nil }
        if let place = now.executor?.sounds.firstIndex(where: { $0 === old.sounds[index] }) {
            return block(of: place, at: tick)
        }
        if before?.isDone[index] == true { return before?.blocks[index] }
        before?.isDone[index] = true
        let sound = old.plan.sounds[index]
        var made: AudioBlock?
        switch sound.body {
        case .source(let source): made = taken(old, source, sound.format, at: tick)
        case .filter(let processor):
            let block = empty(sound.format, at: tick)
            for input in sound.inputs {
                if let part = formerBlock(of: input, at: tick) { block.add(part, .straight) }
            }
            if let parameters = old.soundParameters(index) { processor.process(block, parameters) }
            made = block
        }
        before?.blocks[index] = made
        return made
    }

    private mutating func make(_ index: Int, _ executor: PlanExecutor, _ former: [Int]?, at tick: Tick) -> AudioBlock? {
        let sound = executor.plan.sounds[index]
        switch sound.body {
        case .source(let source): return taken(executor, source, sound.format, at: tick)
        case .filter(let processor):
            // What a filter that is new would repeat later, such as an echo, begins softly too.
            let block = sum(sound.inputs, former ?? [], isNew: before == nil, sound.format, at: tick)
            if let parameters = executor.soundParameters(index) { processor.process(block, parameters) }
            return block
        }
    }

    /// - Parameters:
    ///   - former: what the same node heard in the plan before.
    ///   - isNew: it has heard nothing yet, so that nothing needs to fade.
    ///   - waits: for a sink. What fades does so before it waits, so that sound changes when the picture does.
    private mutating func sum(
        _ heard: [Int], _ former: [Int], isNew: Bool, _ format: AudioFormat, at tick: Tick, _ waits: Waits = Waits()
    ) -> AudioBlock {
        let block = empty(format, at: tick)
        let isFading = !isNew && before != nil
        if let sink = waits.sink { addLeaving(sink, to: block, at: tick) }
        for (place, input) in heard.enumerated() {
            let part = self.block(of: input, at: tick)
            let wasHeard = former.contains { isSame($0, input) }
            let fading: AudioBlock.Fading = isFading && !wasHeard ? .fadeIn(Self.longestFade) : .straight
            if waits.sink != nil, let format = now.executor?.plan.sounds[input].format {
                let output = delayed(part, fading, waits.lines[place], waits.delays[place], format, at: tick)
                block.add(output, .straight)
            } else if let part {
                block.add(part, fading)
            }
        }
        guard isFading else { return block }
        for (place, input) in former.enumerated() where !heard.contains(where: { isSame(input, $0) }) {
            guard let part = formerBlock(of: input, at: tick) else { continue }
            guard let sink = waits.sink else {
                block.add(part, .fadeOut(Self.longestFade))
                continue
            }
            let (line, delay) = (waits.formerLines[place], waits.formerDelays[place])
            let output = delayed(part, .fadeOut(Self.longestFade), line, delay, part.format, at: tick)
            block.add(output, .straight)
            if delay > 0 {
                leaving.append(Leaving(sink: sink, line: line, format: part.format, delay: delay, left: delay))
            }
        }
        return block
    }

    /// What waits of the sounds that a sink hears, and of those that it heard in the plan before.
    private struct Waits {
        /// nil for a filter, whose sounds do not wait.
        var sink: Instance?
        var delays: [Int] = []
        var lines: [SoundDelayLine] = []
        var formerDelays: [Int] = []
        var formerLines: [SoundDelayLine] = []
    }

    /// A sound on its way to a sink, as it is heard there now.
    private mutating func delayed(
        _ part: AudioBlock?, _ fading: AudioBlock.Fading, _ line: SoundDelayLine, _ delay: Int, _ format: AudioFormat,
        at tick: Tick
    ) -> AudioBlock {
        let output = empty(format, at: tick)
        if let part, case .straight = fading {
            line.pass(part, count: output.count, delay: delay, into: output)
            return output
        }
        let faded = part.map { part in
            let faded = empty(format, at: tick)
            faded.add(part, fading)
            return faded
        }
        line.pass(faded, count: output.count, delay: delay, into: output)
        return output
    }

    private mutating func addLeaving(_ sink: Instance, to block: AudioBlock, at tick: Tick) {
        for index in leaving.indices where leaving[index].sink === sink {
            let output = empty(leaving[index].format, at: tick)
            leaving[index].line.pass(nil, count: output.count, delay: leaving[index].delay, into: output)
            block.add(output, .straight)
            leaving[index].left -= output.count
        }
        leaving.removeAll { $0.sink === sink && $0.left <= 0 }
    }

    /// Whether a sound of the plan before and one of the present plan are the same node.
    private func isSame(_ former: Int, _ present: Int) -> Bool {
        guard let old = before?.executor, let executor = now.executor else { return false }
        return old.sounds[former] === executor.sounds[present]
    }

    private mutating func taken(_ executor: PlanExecutor, _ source: Int, _ format: AudioFormat, at tick: Tick)
        -> AudioBlock?
    {
        guard case .source(let media, _) = executor.sources[source].body else { return nil }
        let block = empty(format, at: tick)
        _ = media.sound(at: tick, into: block)
        return block
    }

    private mutating func empty(_ format: AudioFormat, at tick: Tick) -> AudioBlock {
        let block = pool(format).take()
        block.count = min(block.capacity, rate.samples(atTick: tick.index, sampleRate: format.sampleRate))
        block.pts = tick.time
        block.silence(count: block.count)
        return block
    }

    private mutating func pool(_ format: AudioFormat) -> AudioBlockPool {
        if let pool = pools[format] { return pool }
        let pool = AudioBlockPool(
            format: format,
            capacity: min(
                Self.longestBlock, Int((Double(format.sampleRate) / rate.perSecond).rounded(.up)) + 1))
        pools[format] = pool
        return pool
    }
}
