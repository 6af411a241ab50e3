import Glibc
import PatchMedia

extension Engine {
    /// The clock thread: one tick after the other until the end. Allocates nothing in steady state.
    func runClock() {
        var scheduler = Scheduler(self)
        scheduler.run()
        air.notify {
            $0.isRunning = false
            $0.hasFinished = true
        }
        configuration.onEvent(.finished)
    }
}

/// The clock thread's own state.
private struct Scheduler {
    let engine: Engine
    let rate: FrameRate
    let isOffline: Bool
    let ticks: Int64?
    var executor: PlanExecutor?
    var fade: Crossfade?
    var fadeStep: Int64 = 0
    var sound: SoundRenderer
    /// The executor of the tick before.
    var settled: PlanExecutor?

    /// Further behind than this, the clock starts counting afresh: the machine slept, or was stopped.
    static let longestCatchUp: Int64 = 2_000_000_000

    init(_ engine: Engine) {
        self.engine = engine
        executor = engine.air.withLock { $0.current }
        let rate = executor?.plan.rate ?? FrameRate(30)
        self.rate = rate
        sound = SoundRenderer(rate: rate)
        isOffline = engine.configuration.clock == .offline
        ticks = engine.configuration.duration.map { duration in
            let whole = rate.frame(at: duration)
            return rate.time(ofFrame: whole) < duration ? whole + 1 : whole
        }
    }

    mutating func run() {
        var epoch = monotonicNanoseconds()
        let period = rate.frameDuration.nanoseconds
        var index: Int64 = 0
        while true {
            if let ticks, index >= ticks { return }
            var due = epoch + rate.time(ofFrame: index).nanoseconds
            if !isOffline {
                Self.sleep(until: due)
                let behind = monotonicNanoseconds() - due
                if behind > Self.longestCatchUp {
                    epoch += behind
                    due += behind
                }
            }
            var start = monotonicNanoseconds()
            let tick = Tick(index: index, rate: rate, hostTime: isOffline ? start : due, isOffline: isOffline)
            if let beforeTick = engine.configuration.beforeTick {
                engine.air.notify { $0.isBeforeTick = true }
                beforeTick(tick)
                engine.air.withLock { $0.isBeforeTick = false }
                if isOffline { start = monotonicNanoseconds() }
            }
            guard takeOver(at: index), var executor else { return }
            // A tick whose successor is already due is not rendered: every sink gets its last frame again, so that
            // cadence and sound go on.
            let isLate = !isOffline && start > due + period
            if !isLate {
                var outcome = executor.takeFrames(at: tick)
                if outcome.allEnded { return }
                if let changed = outcome.changedSource, let format = executor.changedFormat(ofSource: changed) {
                    let chore = Engine.Chore.formatChanged(executor.sources[changed], format)
                    if isOffline {
                        // Time waits for the new plan, so that this very frame is shown.
                        planNow(chore)
                        guard takeOver(at: index), let next = self.executor else { return }
                        executor = next
                        outcome = executor.takeFrames(at: tick)
                        if outcome.allEnded { return }
                    } else {
                        engine.chores.notify { $0.append(chore) }
                    }
                }
                executor.render(at: tick, parameters: engine.parameters, workers: engine.workers)
                if let fade {
                    fade.render(at: tick, step: fadeStep, onto: executor, workers: engine.workers)
                    fadeStep += 1
                    if fadeStep >= fade.ticks { self.fade = nil }
                }
            }
            deliver(executor, tick, repeating: isLate)
            let end = monotonicNanoseconds()
            engine.counters.withLock {
                $0.ticks += 1
                if isLate || (!isOffline && end > due + period) { $0.late += 1 }
                $0.durations.add(end - start)
            }
            index += 1
        }
    }

    /// Does on the clock thread what else is the caretaker's, for offline runs. The load does not wait for the clock, as
    /// in `beforeTick`.
    private func planNow(_ chore: Engine.Chore) {
        engine.air.notify { $0.isBeforeTick = true }
        engine.perform(chore)
        engine.air.withLock { $0.isBeforeTick = false }
    }

    /// Takes a plan that waits to go on air. False when the engine stops.
    private mutating func takeOver(at index: Int64) -> Bool {
        let current = executor
        let (next, nextFade, isStopping) = engine.air.withLock { air in
            defer {
                air.pending = nil
                air.pendingFade = nil
            }
            return (air.pending, air.pendingFade, air.isStopping)
        }
        if isStopping { return false }
        guard let next else { return true }
        if let current {
            next.inherit(from: current)
        }
        engine.parameters.commit(
            next.plan.parameters, controls: next.plan.controls, from: next.origin)
        executor = next
        fade = nextFade
        fadeStep = 0
        engine.air.notify { $0.current = next }
        engine.configuration.onEvent(.onAir(generation: next.generation, tick: index))
        return true
    }

    private mutating func deliver(_ executor: PlanExecutor, _ tick: Tick, repeating: Bool) {
        let plan = executor.plan
        sound.begin(executor)
        for index in plan.sinks.indices {
            guard let runner = executor.sinks[index].runner else { continue }
            let frame = repeating ? executor.lastFrame(forSink: index) : executor.frame(forSink: index)
            let block = sound.block(forSink: index, at: tick)
            if frame != nil || block != nil || plan.sinks[index].slot == nil {
                let tap = Delivery.Tap(generation: executor.generation, index: plan.sinks[index].tap)
                runner.offer(frame: frame, sound: block, tick: tick, tap: tap)
            }
        }
        sound.runMeters(at: tick)
        sound.end()
        if settled !== executor {
            // Freeing machine code takes its time; the clock has none to give.
            if let settled { engine.chores.notify { $0.append(.dispose(settled)) } }
            settled = executor
            engine.air.notify { $0.settled = executor }
        }
    }

    private static func sleep(until deadline: Int64) {
        var time = timespec(tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
        while clock_nanosleep(CLOCK_MONOTONIC, Int32(TIMER_ABSTIME), &time, nil) == EINTR {}
    }
}
