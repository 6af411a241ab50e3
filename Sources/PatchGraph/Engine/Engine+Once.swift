import PatchMedia

/// Ticks by hand, for benchmarks: what the clock thread does at a tick up to the hand-over to the sinks, on the caller's
/// thread and as often as the caller likes.
extension Engine {
    /// Renders a tick of the loaded plan. The engine must not have been started.
    /// - Throws: `PatchError.usage` when nothing is loaded or the clock runs.
    package func renderOnce(tick index: Int64) throws {
        let executor = air.withLock { $0.isRunning || $0.isStopping ? nil : $0.current }
        guard let executor else {
            throw PatchError(.usage, "nothing is loaded, or the clock runs", remedy: "load a patch and do not start")
        }
        let tick = Tick(index: index, rate: executor.plan.rate, hostTime: monotonicNanoseconds(), isOffline: true)
        _ = executor.takeFrames(at: tick)
        executor.render(at: tick, parameters: parameters, workers: workers)
    }

    /// What the tick rendered last gave a sink; nil when there is no such sink or nothing came.
    package func frame(forSink id: NodeID) -> Frame? {
        guard let executor = air.withLock({ $0.current }),
            let index = executor.plan.sinks.firstIndex(where: { $0.id == id })
        else { return nil }
        return executor.frame(forSink: index)
    }
}
