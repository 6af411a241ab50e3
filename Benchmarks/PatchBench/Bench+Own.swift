import Foundation
import PatchGraph
import PatchKernel
import PatchMedia

/// Rows without peers.
extension Bench {
    private var rgba: VideoFormat {
        VideoFormat(.rgba, width: options.width, height: options.height, color: .srgb, premultiplied: false)
    }

    private func onePass(_ name: String, _ filter: Filter, _ format: VideoFormat) -> OurWay {
        OurWay(name: name, input: format, steps: [OurWay.Step(filter: filter, inputs: [0], output: format)])
    }

    /// One to forty point filters in one pass. The limit of the tenth is what it must stay below: 1.3 times the dearest
    /// of them alone, and one memcpy.
    func measureChains() throws {
        for threads in options.threads {
            let workers = try Workers(count: threads)
            defer { workers.stop() }
            let picture = pictures.rgba.bytes
            func competitor(_ name: String, _ filter: Filter) throws -> Competitor {
                let way = onePass(name, filter, rgba)
                return .ours(
                    way,
                    try OurRun(
                        way, picture: picture, tables: [], compiler: compiler, workers: workers, threads: threads))
            }
            let alone = try Filters.tenPoints()
            let counts = [1, 2, 3, 5, 7, 10, 15, 20, 30, 40]
            var competitors = try alone.map { try competitor("alone", $0) }
            competitors += try counts.map { try competitor("chain", .chain(Filters.points($0))) }
            for peer in peers where peer.name == "memory" {
                competitors.append(
                    Competitor(
                        group: "limit", way: "memcpy",
                        run: { try peer.run("copy", "rgba", "memcpy", threads: threads, iterations: $0) },
                        output: { [] }))
            }
            // Each counts for itself, so none of them is left out for being slower.
            for index in competitors.indices where competitors[index].group == "ours" {
                competitors[index].group = "\(index)"
            }
            let timings = Interleaving(rounds: options.rounds).measure(competitors) { _, _ in (nil, nil) }
            let copy = timings.first { $0.group == "limit" }
            for (index, filter) in alone.enumerated() {
                add(own("chain-alone", threads, "\(filter.kernel.name) alone", timings[index], copy?.median))
            }
            let dearest = timings[..<alone.count].map(\.median).max() ?? .nan
            for (index, count) in counts.enumerated() {
                let limit = count == 10 ? dearest * 1.3 + (copy?.median ?? 0) : copy?.median
                let title =
                    count == 10
                    ? "10 filters fused; limit: 1.3 times the dearest alone plus a memcpy"
                    : "\(count) filter\(count == 1 ? "" : "s") fused"
                add(own("chain-\(count)", threads, title, timings[alone.count + index], limit))
            }
        }
    }

    private func own(_ name: String, _ threads: Int, _ title: String, _ timing: Timing, _ limit: Double?) -> Report.Row
    {
        var row = Report.Row(
            workload: name, format: "rgba", threads: threads, size: size, title: title)
        row.ours = timing.median
        row.oursMinimum = timing.minimum
        row.limit = limit
        return row
    }

    /// Ten filters, compiled from nothing, and read from the cache on disk by a compiler that has not seen them.
    func measureCompiling() throws {
        let chain = try Filter.chain(Filters.points(10))
        let description = PassDescription(
            kernel: chain.kernel, inputs: [PassInput(rgba)],
            output: PassOutput(format: .rgba, color: .srgb, premultiplied: false))
        let folder = options.scratch + "/patch-bench-cache-\(ProcessInfo.processInfo.processIdentifier)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var cold = Timing(group: "ours", way: "cold")
        var disk = Timing(group: "ours", way: "disk")
        var origins: Set<String> = []
        _ = try KernelCompiler(CompilerOptions(cacheDirectory: folder)).compile(description)
        for _ in 0..<max(5, options.rounds) {
            var start = monotonicNanoseconds()
            _ = try KernelCompiler(CompilerOptions(cacheDirectory: nil)).compile(description)
            cold.milliseconds.append(Double(monotonicNanoseconds() - start) / 1e6)
            start = monotonicNanoseconds()
            let pass = try KernelCompiler(CompilerOptions(cacheDirectory: folder)).compile(description)
            disk.milliseconds.append(Double(monotonicNanoseconds() - start) / 1e6)
            origins.insert(pass.origin.rawValue)
        }
        add(own("compile-cold", 1, "ten filters, from nothing; limit: what is allowed", cold, 40))
        if origins == ["diskCache"] {
            add(own("compile-disk", 1, "ten filters, from the disk cache; limit: what is allowed", disk, 3))
        } else {
            var row = own("compile-disk", 1, "the disk cache was not used (\(origins.sorted()))", disk, 3)
            row.ours = nil
            row.oursMinimum = nil
            add(row)
        }
    }

    /// One thread beside two, for the look at 720p and at 1080p, in turns. `ours` is the speed-up.
    func measureScaling() throws {
        let workers = [try Workers(count: 1), try Workers(count: 2)]
        defer { for worker in workers { worker.stop() } }
        for (width, height) in [(1280, 720), (1920, 1080)] {
            for input in [PixelFormat.rgba, .yuv420p] {
                let format =
                    input == .rgba
                    ? VideoFormat(.rgba, width: width, height: height, color: .srgb, premultiplied: false)
                    : VideoFormat(.yuv420p, width: width, height: height, color: TestPictures.video)
                let picture = Frame(allocating: format)
                let way = onePass("look", try Filters.look(), format)
                let competitors = try workers.enumerated().map { index, workers in
                    var competitor = Competitor.ours(
                        way,
                        try OurRun(
                            way, picture: picture.bytes, tables: [], compiler: compiler, workers: workers,
                            threads: index + 1))
                    competitor.group = "\(index + 1)"
                    return competitor
                }
                let timings = Interleaving(rounds: options.rounds).measure(competitors) { _, _ in (nil, nil) }
                for (index, timing) in timings.enumerated() {
                    let gain = timings[0].median / timing.median
                    var row = own(
                        "scaling", index + 1,
                        "W1 \(input.rawValue)" + (index == 0 ? "" : ", \(rounded(gain)) times as fast as one thread"),
                        timing, nil)
                    row.format = input.rawValue
                    row.size = "\(width)x\(height)"
                    add(row)
                }
            }
        }
    }
}
