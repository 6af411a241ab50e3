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
    private(set) var report = Report()
    /// False once no way of ours was equal to the reference.
    private(set) var isRight = true
    /// Files of this run, removed at its end.
    let folder: String
    var scaledPictures: [String: Frame] = [:]

    init(_ options: Options) throws {
        self.options = options
        pictures = try TestPictures(width: options.width, height: options.height, path: options.picture)
        folder = options.scratch + "/patch-bench-\(ProcessInfo.processInfo.processIdentifier)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try lut.write(to: folder + "/bench.cube")
        var peers: [PeerProgram] = []
        if let path = options.peers {
            let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
            for name in names where FileManager.default.isExecutableFile(atPath: path + "/" + name) {
                peers.append(try PeerProgram(path: path + "/" + name))
            }
        }
        self.peers = peers
        if peers.isEmpty { return }
        for (name, frame) in pictures.byName {
            let file = folder + "/" + name + ".raw"
            try frame.write(to: file)
            let format = frame.format.pixelFormat == .gray8 ? "gray" : frame.format.pixelFormat.rawValue
            for peer in peers { try peer.ask("load \(name) \(format) \(frame.width) \(frame.height) \(file)") }
            unlink(file)
        }
        for peer in peers { try peer.ask("cube \(folder)/bench.cube") }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func run() throws {
        for workload in Workload.all where workload.isSelected(by: options.only) {
            let reference = Reference.result(of: workload, pictures, lut: lut)
            for threads in options.threads { try measure(workload, threads, reference) }
        }
        if options.wants("beautify") { try measureBeautify() }
        if options.wants("chain") { try measureChains() }
        if options.wants("compile") { try measureCompiling() }
        if options.wants("scaling") { try measureScaling() }
        if options.wants("light") { try measureLight() }
        if options.wants("aspect") { try measureAspects() }
        if options.wants("median") { try measureMedians() }
        if options.wants("filters") { try measureFilters() }
        if let path = options.json { try report.json.write(toFile: path, atomically: true, encoding: .utf8) }
        if let path = options.markdown {
            let about = try options.about.map { try String(contentsOfFile: $0, encoding: .utf8) } ?? ""
            try report.markdown(about: about).write(toFile: path, atomically: true, encoding: .utf8)
        }
    }

    /// The names that graphs use: `a` to `d` are pictures of the workload's format.
    func inputs(of workload: Workload, _ way: OurWay) -> [String: Frame] {
        let suffix = workload.format == .rgba ? "rgba" : workload.format == .gray8 ? "gray" : "yuv420p"
        var frames: [String: Frame] = [:]
        for (name, picture) in [("a", ""), ("b", "b-"), ("c", ""), ("d", "b-"), ("key", "key-")] {
            frames[name] = pictures.byName[picture + suffix]
        }
        frames["overlay"] = pictures.byName["overlay"]
        if options.wrongPicture, let right = frames["a"] {
            frames["a"] = right.flipped()
            frames["key"] = right.flipped()
        }
        if workload.treatsAlphaAlike {
            for (name, frame) in frames where frame.format.pixelFormat.hasAlpha {
                frames[name] = frame.withPremultipliedAlpha()
            }
        }
        if way.isFullRange {
            for (name, frame) in frames where frame.format.pixelFormat.isYCbCr { frames[name] = frame.withFullRange() }
        }
        return frames
    }

    /// The formats of a way's results.
    func results(of workload: Workload, _ way: OurWay) -> [String: VideoFormat] {
        func format(_ pixelFormat: PixelFormat) -> VideoFormat {
            var color = pixelFormat.isYCbCr ? TestPictures.video : .srgb
            if way.isFullRange { color.range = .full }
            return VideoFormat(
                pixelFormat, width: options.width, height: options.height, color: color,
                premultiplied: workload.treatsAlphaAlike)
        }
        var results = ["out": format(workload.output)]
        if let middle = way.middle { results["middle"] = format(middle) }
        return results
    }

    func run(_ way: OurWay, of workload: Workload, threads: Int) throws -> OurRun {
        try OurRun(
            way, size: (options.width, options.height), pictures: inputs(of: workload, way),
            results: results(of: workload, way), folder: folder, threads: threads, processor: options.processor)
    }

    /// Our ways of a workload, compiled; empty when the library cannot do it yet.
    func ours(_ workload: Workload, _ threads: Int) -> [(OurWay, OurRun)] {
        OurWay.all(of: workload, width: options.width, height: options.height).compactMap { way in
            do { return (way, try run(way, of: workload, threads: threads)) } catch {
                let text = "bench: \(workload.name) \(workload.format) is left out: \(error)\n"
                FileHandle.standardError.write(Data(text.utf8))
                return nil
            }
        }
    }

    private func measure(_ workload: Workload, _ threads: Int, _ reference: [UInt8]) throws {
        let ours = ours(workload, threads)
        guard !ours.isEmpty else { return }
        var competitors = ours.map { Competitor.ours($0.0, $0.1) }
        let file = folder + "/peer.out"
        defer { unlink(file) }
        for peer in peers {
            for way in peer.ways {
                let isLimit = peer.name == "memory"
                guard
                    isLimit
                        ? way.format == workload.output.rawValue
                        : way.workload == workload.name && way.format == workload.formatName
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
            guard bytes.count == reference.count else {
                throw BenchProblem("\(bytes.count) bytes came out, not \(reference.count)")
            }
            let rows = workload.checkedRows(height: options.height)
            let stride = bytes.count / options.height
            // Of a picture in planes, a band of the first one.
            let line = workload.format.planeCount > 1 ? options.width : stride
            let range =
                rows.count == options.height ? 0..<bytes.count : rows.lowerBound * line..<rows.upperBound * line
            difference = try Difference(bytes[range], reference[range])
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
            for (way, run) in ours(workload, options.threads[0]) {
                try loop(seconds, "\(workload.name) \(workload.format.rawValue), \(way.name)", run)
            }
        }
        if options.wants("beautify") {
            for (name, run) in try beautifyRuns(threads: options.threads[0]) { try loop(seconds, name, run) }
        }
    }

    private func loop(_ seconds: Double, _ name: String, _ run: OurRun) throws {
        for _ in 0..<3 { try run.run() }
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
            try run.run()
            least = min(least, Double(monotonicNanoseconds() - begin) / 1e6)
            count += 1
        }
        let (wall, busy) = (
            Double(monotonicNanoseconds() - start) / 1e6 / Double(count), (cpu() - used) / Double(count)
        )
        print(
            "\(name): \(count) frames, \(rounded(wall)) ms a frame, "
                + "\(rounded(busy)) ms of CPU, \(rounded(least)) ms at least")
    }

    func add(_ row: Report.Row) { report.add(row) }
}
