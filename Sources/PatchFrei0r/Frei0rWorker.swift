import PatchGraph
import PatchMedia
import Synchronization

/// A plugin behind a node: starts its process, starts it again after a failure, feeds it.
///
/// Thread-safety: as `GuestWorker`.
final class Frei0rWorker: GuestWorker, @unchecked Sendable {
    // Unchecked: `pool` is used by the guest's thread alone; `running` is behind a lock because `cancel` reads it.
    private let plugin: Frei0rPlugin
    private let texts: [String]
    private let output: VideoFormat
    private let pool: FramePool
    private let running = Mutex<Frei0rProcess?>(nil)
    /// Seconds that starting and a picture may take.
    private let patience: (start: Double, picture: Double)

    init(
        _ plugin: Frei0rPlugin, texts: [String], output: VideoFormat,
        patience: (start: Double, picture: Double) = (10, 2)
    ) {
        self.plugin = plugin
        self.texts = texts
        self.output = output
        self.patience = patience
        pool = FramePool(format: output, limit: 64)
    }

    func process(_ inputs: [Frame], parameters: [Float], at tick: Tick) throws -> Frame? {
        do { return try compute(inputs, parameters, tick) } catch {
            running.withLock { $0 = nil }
            throw error
        }
    }

    private func compute(_ inputs: [Frame], _ parameters: [Float], _ tick: Tick) throws -> Frame? {
        let process: Frei0rProcess
        if let known = running.withLock({ $0 }) {
            process = known
        } else {
            process = try Frei0rProcess(plugin, width: output.width, height: output.height, texts: texts)
            running.withLock { $0 = process }
            try process.waitUntilReady(within: patience.start)
        }
        for (index, input) in inputs.enumerated() { process.setInput(index, input) }
        process.setParameters(inner(parameters))
        try process.compute(time: tick.time.seconds, within: patience.picture)
        guard let frame = pool.take() else {
            throw PatchError(
                .media, "more than 64 pictures of '\(plugin.name)' are held back by the graph",
                remedy: "shorten its delays")
        }
        process.copyOutput(to: frame)
        frame.pts = tick.time
        frame.duration = tick.duration
        return frame
    }

    /// The node's floats as the plugin's numbers.
    private func inner(_ floats: [Float]) -> [Double] {
        var result: [Double] = []
        var next = 0
        for parameter in plugin.parameters {
            // A colour of the node has an alpha, which frei0r's have not.
            let width = parameter.form == .color ? 4 : parameter.defaultValue.count
            let values = floats[min(next, floats.count)..<min(next + width, floats.count)].map { Double($0) }
            next += width
            let wanted = parameter.defaultValue.count
            for index in 0..<wanted {
                let value = index < values.count ? values[index] : parameter.defaultValue[index]
                result.append(parameter.meaning.map { $0.inner(value) } ?? value)
            }
        }
        return result
    }

    func cancel() { running.withLock { $0 }?.cancel() }
}
