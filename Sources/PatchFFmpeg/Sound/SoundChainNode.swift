internal import CFFmpeg
import Glibc
import PatchGraph
import PatchMedia
import Synchronization

/// A node that is a chain of libavfilter: `audio.ffmpeg`, `audio.compressor` and the like.
///
/// Two equal chains run side by side, and one of them is heard. A change is told to the other one, which is faded in over the
/// block: filters that jump to a new value do so unheard. A chain that takes no commands runs alone.
/// It works on the clock thread: a thread of its own would make sound a tick later than its picture.
/// Thread-safety: as `SoundProcessor`; `command` may be called from any thread.
final class SoundChainNode: SoundProcessor, CommandTaking, @unchecked Sendable {
    // Unchecked: written by `prepare` before the node runs, then by the clock's thread; commands wait behind a mutex.
    private let text: String
    private let syntax: ChainSyntax
    private let environment: NodeEnvironment
    private let knobs: [SoundKnob]
    private var chains: [SoundChain] = []
    /// The knobs as each chain was told.
    private var told: [[Float]] = []
    /// Which chain is heard.
    private var heard = 0
    private var other: UnsafeMutableBufferPointer<Float> = .init(start: nil, count: 0)
    private var longestBlock = 0
    private var isOff = false
    private var isNew = true
    /// Samples until the chain that was told something new has nothing old in it, and is faded in.
    private var wait: Int?
    /// Samples that came out so far: what begins after a silence rises slowly.
    private var age = 0
    private static let rise = 480

    private struct Command: Sendable {
        var target: String
        var name: String
        var argument: String
    }
    /// New since the last block.
    private let mail = Mutex<[Command]>([])
    /// Commands that the chain that is heard has not got yet.
    private var pending: [Command] = []

    /// - Parameter text: checked against the rules for scripts.
    /// - Throws: `PatchError` when the text is no chain, or a filter may not be used.
    init(_ text: String, knobs: [SoundKnob] = [], _ environment: NodeEnvironment) throws {
        self.text = text
        self.knobs = knobs
        self.environment = environment
        syntax = try ChainSyntax(text)
        try syntax.check(SoundRules.self)
    }

    deinit { other.deallocate() }

    private(set) var latency = 0
    private var settling = 0

    func prepare(_ format: AudioFormat, longestBlock: Int) throws {
        self.longestBlock = longestBlock
        chains = [try SoundChain(text, format: format, longestBlock: longestBlock)]
        if syntax.takesCommands {
            chains.append(try SoundChain(text, format: format, longestBlock: longestBlock))
            other = .allocate(capacity: longestBlock * format.channels)
            other.initialize(repeating: 0)
        }
        told = Array(repeating: Array(repeating: .nan, count: knobs.count), count: chains.count)
        (latency, settling) = (chains[0].latency, chains[0].settling)
    }

    func process(_ block: AudioBlock, _ parameters: SoundParameters) {
        guard !isOff, !chains.isEmpty else { return }
        do {
            try run(block, parameters)
            guard settling > 0, age < settling + Self.rise else { return }
            block.rise(age: age, after: settling, over: Self.rise)
            age += block.count
        } catch {
            isOff = true
            var problem = error as? PatchError ?? PatchError(.media, "\(error)")
            problem.message += "; it is switched off, and sound goes through it unchanged"
            environment.report(.problem(problem))
        }
    }

    private func run(_ block: AudioBlock, _ parameters: SoundParameters) throws {
        guard chains.count == 2, let spare = other.baseAddress else {
            return try chains[0].process(block) { block.channel($0) }
        }
        let next = 1 - heard
        if isNew {
            // Nothing was heard yet that could click.
            _ = change(heard, parameters)
            isNew = false
        }
        if change(next, parameters) { wait = settling }
        let length = longestBlock
        // The chain that goes on being heard, or fades out, last: it overwrites the block.
        try chains[next].process(block) { spare + $0 * length }
        try chains[heard].process(block) { block.channel($0) }
        guard let start = wait else { return }
        // The longest fade that is left in this block, or, if that is short, one in a later block.
        guard start <= block.count / 2 else {
            wait = max(0, start - block.count)
            return
        }
        for channel in 0..<block.format.channels {
            let (row, new) = (block.channel(channel), spare + channel * length)
            for index in start..<block.count {
                let weight = AudioBlock.rise(index - start, of: block.count - start)
                row[index] += (new[index] - row[index]) * weight
            }
        }
        for command in pending { tell(heard, command) }
        pending.removeAll(keepingCapacity: true)
        heard = next
        wait = nil
    }

    /// Tells a chain what it was not told yet. True when that is to be heard.
    private func change(_ index: Int, _ parameters: SoundParameters) -> Bool {
        var isNews = false
        for (place, knob) in knobs.enumerated() {
            let value = parameters[knob.parameter].end
            guard value != told[index][place] else { continue }
            told[index][place] = value
            knob.tell(chains[index], value)
            if value != told[1 - index][place] { isNews = true }
        }
        let fresh = mail.withLockIfAvailable { mail in
            defer { mail.removeAll() }
            return mail
        }
        for command in fresh ?? [] {
            tell(index, command)
            pending.append(command)
            isNews = true
        }
        return isNews
    }

    private func tell(_ index: Int, _ command: Command) {
        guard !chains[index].tell(command.target, command.name, command.argument) else { return }
        environment.report(
            .problem(
                PatchError(
                    .usage, "\(command.target) refuses \(command.name) = \(command.argument) while it runs",
                    remedy: "`patchbay filters --ffmpeg \(command.target)` says what may be changed",
                    cause: FFmpegLog.firstLine)))
    }

    func command(_ target: String, _ name: String, _ argument: String) throws {
        try syntax.checkCommand(target, name)
        mail.withLock { $0.append(Command(target: target, name: name, argument: argument)) }
    }
}

/// How a parameter becomes an option of a filter in a chain.
///
/// Thread-safety: a value.
struct SoundKnob: Sendable {
    /// Which parameter, counted in floats.
    let parameter: Int
    private let target: [CChar]
    private let name: [CChar]
    private let value: @Sendable (Float) -> Double

    /// - Parameters:
    ///   - target: the filter's name@id in the chain.
    ///   - name: of its option.
    ///   - value: the option's value for the parameter's.
    init(
        _ parameter: Int, _ target: String, _ name: String,
        _ value: @escaping @Sendable (Float) -> Double = { Double($0) }
    ) {
        self.parameter = parameter
        self.target = target.utf8CString.map { $0 }
        self.name = name.utf8CString.map { $0 }
        self.value = value
    }

    /// Decibels of amplitude to a factor: 10^(dB / 20).
    static func factor(_ decibels: Float) -> Double { pow(10, Double(decibels) / 20) }

    /// Tells a chain the parameter's value; allocates nothing itself.
    func tell(_ chain: SoundChain, _ parameter: Float) {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 40) { text in
            guard let base = text.baseAddress else { return }
            base.initialize(repeating: 0, count: 40)
            _ = withVaList([value(parameter)]) { vsnprintf(base, 40, "%.9g", $0) }
            target.withUnsafeBufferPointer { target in
                name.withUnsafeBufferPointer { name in
                    guard let target = target.baseAddress, let name = name.baseAddress else { return }
                    _ = chain.tell(target, name, base)
                }
            }
        }
    }
}
