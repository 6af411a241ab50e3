// Our kernels beside their peers, in one run: scripts/bench builds the peers and calls this.
import Foundation
import PatchGraph
import PatchKernel
import PatchMedia

@main struct PatchBench {
    static func main() {
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            let bench = try Bench(options)
            if let seconds = options.loop { return try bench.loop(seconds) }
            try bench.run()
            exit(bench.isRight ? 0 : 1)
        } catch {
            FileHandle.standardError.write(Data("bench: error: \(error)\n".utf8))
            exit(2)
        }
    }
}

/// One run: the pictures, the peers that are there, the rows so far.
final class Bench {
    let options: Options
    let pictures: TestPictures
    let lut = CubeLUT()
    let peers: [PeerProgram]
    let compiler: KernelCompiler
    private(set) var report = Report()
    /// False once no way of ours was equal to the reference.
    private(set) var isRight = true

    init(_ options: Options) throws {
        self.options = options
        pictures = try TestPictures(width: options.width, height: options.height, path: options.picture)
        compiler = KernelCompiler(CompilerOptions(processor: options.processor))
        var peers: [PeerProgram] = []
        if let folder = options.peers {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            for name in names where FileManager.default.isExecutableFile(atPath: folder + "/" + name) {
                peers.append(try PeerProgram(path: folder + "/" + name))
            }
        }
        self.peers = peers
        let base = options.scratch + "/patch-bench-\(ProcessInfo.processInfo.processIdentifier)"
        defer { for suffix in [".rgba", ".yuv420p", ".cube"] { unlink(base + suffix) } }
        try pictures.rgba.write(to: base + ".rgba")
        try pictures.yuv420p.write(to: base + ".yuv420p")
        try lut.write(to: base + ".cube")
        for peer in peers {
            for format in ["rgba", "yuv420p"] {
                try peer.ask("load \(format) \(format) \(options.width) \(options.height) \(base).\(format)")
            }
            // FFmpeg reads the file when a graph is made, so that it must stay until then.
            try FileManager.default.copyItem(atPath: base + ".cube", toPath: base + "-\(peer.name).cube")
            try peer.ask("cube \(base)-\(peer.name).cube")
        }
        cubes = peers.map { base + "-\($0.name).cube" }
    }

    private let cubes: [String]
    deinit { for path in cubes { unlink(path) } }

    func run() throws {
        for workload in Workload.all where workload.isSelected(by: options.only) {
            let reference = Reference.result(of: workload, pictures, lut: lut)
            for threads in options.threads { try measure(workload, threads, reference) }
        }
        if options.wants("chain") { try measureChains() }
        if options.wants("compile") { try measureCompiling() }
        if options.wants("scaling") { try measureScaling() }
        if let path = options.json { try report.json.write(toFile: path, atomically: true, encoding: .utf8) }
        if let path = options.markdown {
            let about = try options.about.map { try String(contentsOfFile: $0, encoding: .utf8) } ?? ""
            try report.markdown(about: about).write(toFile: path, atomically: true, encoding: .utf8)
        }
    }

    func bytes(for workload: Workload) -> [UInt8] {
        guard options.wrongPicture else { return pictures[workload.format].bytes }
        let flipped = pictures.flipped()
        return workload.format == .rgba ? flipped.bytes : Reference.encode(RealPicture(flipped)).bytes
    }

    /// The LUT as pictures of half floats and of bytes, as `Filters.lut` reads it.
    lazy var tables: [Frame] = {
        let side = CubeLUT.side
        func table(_ format: PixelFormat) -> Frame {
            Frame(
                allocating: VideoFormat(
                    format, width: side * side, height: side, color: .srgb, premultiplied: false))
        }
        let (half, bytes) = (table(.half3), table(.rgba))
        for (index, entry) in lut.entries.enumerated() {
            let (x, y) = (index % (side * side), index / (side * side))
            let pixel = bytes.plane(0).row(y).assumingMemoryBound(to: UInt8.self) + 4 * x
            for c in 0..<3 {
                half.plane(c).row(y).assumingMemoryBound(to: Float16.self)[x] = Float16(entry[c])
                pixel[c] = UInt8((255 * min(1, max(0, entry[c]))).rounded())
            }
            pixel[3] = 255
        }
        return [half, bytes]
    }()

    /// Our ways of a workload, compiled.
    func ours(_ workload: Workload, _ threads: Int) throws -> [(OurWay, OurRun)] {
        let workers = try Workers(count: threads)
        let picture = bytes(for: workload)
        return try OurWay.all(of: workload, width: options.width, height: options.height).map { way in
            (
                way,
                try OurRun(
                    way, picture: picture, tables: tables, compiler: compiler, workers: workers, threads: threads)
            )
        }
    }

    private func measure(_ workload: Workload, _ threads: Int, _ reference: [UInt8]) throws {
        let ours = try ours(workload, threads)
        defer { ours.first?.1.workers.stop() }
        var competitors = ours.map { Competitor.ours($0.0, $0.1) }
        let file = options.scratch + "/patch-bench-\(ProcessInfo.processInfo.processIdentifier).out"
        defer { unlink(file) }
        for peer in peers {
            for way in peer.ways {
                let isLimit = peer.name == "memory"
                guard
                    isLimit
                        ? way.format == workload.output.rawValue
                        : way.workload == workload.name && way.format == workload.format.rawValue
                else { continue }
                competitors.append(
                    Competitor(
                        group: isLimit ? "limit" : peer.name, way: way.name,
                        run: { iterations in
                            try peer.run(way.workload, way.format, way.name, threads: threads, iterations: iterations)
                        },
                        output: {
                            try peer.ask("dump \(file)")
                            return [UInt8](FileManager.default.contents(atPath: file) ?? Data())
                        }))
            }
        }
        let timings = Interleaving(rounds: options.rounds).measure(competitors) { competitor, bytes in
            check(competitor, bytes, workload, reference)
        }
        for peer in peers { try peer.ask("forget") }
        // One equal way is enough; the others stand in the report with what is wrong.
        if !timings.contains(where: { $0.group == "ours" && $0.problem == nil }) { isRight = false }
        report.add(workload, threads: threads, size: size, timings)
    }

    var size: String { "\(options.width)x\(options.height)" }

    /// How far a result is from the reference, and whether that is too far.
    private func check(
        _ competitor: Competitor, _ bytes: [UInt8], _ workload: Workload, _ reference: [UInt8]
    ) -> (Difference?, String?) {
        guard competitor.group != "limit" else { return (nil, nil) }
        let difference: Difference
        do {
            difference = try Difference(bytes, reference)
        } catch {
            return (nil, "\(error)")
        }
        if competitor.group == "ours" {
            guard difference.worst <= workload.worst, difference.nearlyAll <= workload.nearlyAll else {
                return (
                    difference,
                    "off by up to \(difference.worst) (99.9 %: \(difference.nearlyAll)), "
                        + "at most \(workload.worst) (\(workload.nearlyAll)) allowed"
                )
            }
        } else {
            let limits = workload.limits(ofPeer: competitor.group, way: competitor.way)
            guard difference.mean <= limits.mean else {
                return (difference, "off by \(rounded(difference.mean)) on average, at most \(limits.mean) allowed")
            }
        }
        return (difference, nil)
    }

    /// Each workload, over and over, for a profiler.
    func loop(_ seconds: Double) throws {
        for workload in Workload.all where workload.isSelected(by: options.only) {
            let ways = try ours(workload, options.threads[0])
            for (way, run) in ways { try loop(seconds, workload, way, run) }
            ways.first?.1.workers.stop()
        }
    }

    private func loop(_ seconds: Double, _ workload: Workload, _ way: OurWay, _ run: OurRun) throws {
        for _ in 0..<3 { run.run() }
        // CPU time beside the clock's: on a busy machine it says more.
        func cpu() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
            return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
        }
        let (start, used) = (monotonicNanoseconds(), cpu())
        var count = 0
        var least = Double.infinity
        while Double(monotonicNanoseconds() - start) < seconds * 1e9 {
            let begin = monotonicNanoseconds()
            run.run()
            least = min(least, Double(monotonicNanoseconds() - begin) / 1e6)
            count += 1
        }
        let (wall, busy) = (
            Double(monotonicNanoseconds() - start) / 1e6 / Double(count), (cpu() - used) / Double(count)
        )
        print(
            "\(workload.name) \(workload.format.rawValue), \(way.name): \(count) frames, \(rounded(wall)) ms a frame, "
                + "\(rounded(busy)) ms of CPU, \(rounded(least)) ms at least")
    }

    func add(_ row: Report.Row) { report.add(row) }
}
