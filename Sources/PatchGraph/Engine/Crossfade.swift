import PatchKernel
import PatchMedia

/// The fade from the plan on air to the next one: both are rendered for some ticks and mixed where they share a sink.
///
/// Thread-safety: as `PlanExecutor`.
final class Crossfade: @unchecked Sendable {
    // Unchecked: made on a control thread, then used by the clock thread alone.
    private struct Mix {
        let newSink: Int
        let oldSink: Int
        let pass: CompiledPass
        /// For the chroma planes, where they are mixed apart.
        let chroma: CompiledPass?
        let pool: FramePool
    }

    let old: PlanExecutor
    let ticks: Int64
    private let mixes: [Mix]
    private let progress: UnsafeMutablePointer<Float>
    private let images: UnsafeMutablePointer<ImageReference>

    /// - Parameter ticks: length of the fade, at least 1.
    init(
        from old: PlanExecutor, to new: PlanExecutor, ticks: Int64, compiler: KernelCompiler, pools: PoolStore
    ) throws {
        self.old = old
        self.ticks = ticks
        var mixes: [Mix] = []
        for (newIndex, sink) in new.plan.sinks.enumerated() {
            guard let format = sink.video,
                let oldIndex = old.sinks.firstIndex(where: { $0 === new.sinks[newIndex] }),
                old.plan.sinks[oldIndex].video == format
            else { continue }
            let side = PassInput(
                format: format.pixelFormat, color: format.color, orientation: .identity,
                premultiplied: format.premultiplied)
            let description = PassDescription(
                kernel: try Self.kernel(), inputs: [side, side],
                output: PassOutput(
                    format: format.pixelFormat, color: format.color, premultiplied: format.premultiplied))
            do {
                var parts = [description]
                if case .apart(let planes) = description.planePasses() { parts = planes }
                mixes.append(
                    Mix(
                        newSink: newIndex, oldSink: oldIndex, pass: try compiler.compile(parts[0]),
                        chroma: parts.count > 1 ? try compiler.compile(parts[1]) : nil,
                        pool: pools.pool(for: format)))
            } catch {
                throw PatchError(.kernel, error.message, remedy: error.remedy)
            }
        }
        self.mixes = mixes
        progress = .allocate(capacity: 1)
        progress.initialize(to: 0)
        // Both sides, and their chroma planes.
        images = .allocate(capacity: 4)
        let nothing = ImageReference(Frame(allocating: VideoFormat(.gray8, width: 1, height: 1)))
        images.initialize(repeating: nothing, count: 4)
    }

    /// mix(before, after, progress) on premultiplied encoded colour.
    private static func kernel() throws -> Kernel {
        let sides = ["before", "after"].map { InputDeclaration(name: $0, alpha: .premultiplied) }
        var builder = KernelBuilder(
            name: "crossfade", inputs: sides,
            uniforms: [UniformDeclaration(name: "progress", type: .float, range: 0...1)],
            alpha: .premultiplied, space: .any)
        do {
            let mixed = try builder.apply(.mix, [builder.current(0), builder.current(1), builder.uniform(0)])
            return try builder.finish(mixed)
        } catch {
            throw PatchError(.kernel, error.message, remedy: error.remedy)
        }
    }

    deinit {
        progress.deallocate()
        images.deallocate()
    }

    /// Renders the old plan at this tick and mixes it under the new one's results.
    /// - Parameter step: ticks since the fade began, from 0; the first tick already shows a little of the new look.
    func render(at tick: Tick, step: Int64, onto new: PlanExecutor, workers: Workers) {
        _ = old.takeFrames(at: tick, following: new)
        old.render(at: tick, parameters: nil, workers: workers)
        progress.pointee = Float(step + 1) / Float(ticks + 1)
        for mix in mixes {
            guard let before = old.frame(forSink: mix.oldSink), let after = new.frame(forSink: mix.newSink),
                before !== after, let output = mix.pool.take()
            else { continue }
            images[0] = ImageReference(before)
            images[1] = ImageReference(after)
            var job = BandJob(
                pass: mix.pass, inputs: UnsafeBufferPointer(start: images, count: 2),
                output: ImageReference(output), uniforms: UnsafePointer(progress),
                context: FrameContext(time: tick.time.seconds, frame: tick.index), alignment: 2,
                threads: workers.count)
            if let chroma = mix.chroma {
                let (planes, format) = (chroma.description.planes, output.format.pixelFormat)
                for side in 0..<2 { images[2 + side] = images[side].showing(planes, of: format) }
                job.chroma = ChromaJob(
                    pass: chroma, inputs: UnsafeBufferPointer(start: images + 2, count: 2),
                    output: job.output.showing(planes, of: format))
            }
            workers.run(job)
            new.replaceFrame(forSink: mix.newSink, with: output)
        }
    }
}
