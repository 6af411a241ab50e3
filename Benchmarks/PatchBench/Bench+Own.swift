import Foundation
import PatchGraph
import PatchKernel
import PatchMedia

/// Rows without peers.
extension Bench {
    /// A graph on pictures of a size and format, as it comes and as it goes.
    ///
    /// - Parameter size: of the picture; nil is that of the graph.
    func run(
        _ way: OurWay, _ format: PixelFormat, _ width: Int, _ height: Int, threads: Int, picture size: (Int, Int)? = nil
    ) throws -> OurRun {
        let color = format.isYCbCr ? TestPictures.video : ColorSpec.srgb
        let video = VideoFormat(format, width: width, height: height, color: color, premultiplied: false)
        let known = pictures[format]
        var picture = known
        let wanted = size ?? (width, height)
        if (known.width, known.height) != wanted {
            picture = Frame(
                allocating: VideoFormat(
                    format, width: wanted.0, height: wanted.1, color: color, premultiplied: false))
            for index in 0..<format.planeCount {
                for y in 0..<picture.rows(ofPlane: index) {
                    let row = known.plane(index).row(y % known.rows(ofPlane: index))
                    let count = min(picture.rowBytes(ofPlane: index), known.rowBytes(ofPlane: index))
                    picture.plane(index).row(y).copyMemory(from: row, byteCount: count)
                }
            }
        }
        return try OurRun(
            way, size: (width, height), pictures: ["a": picture], results: ["out": video], folder: folder,
            threads: threads, processor: options.processor)
    }

    func row(
        _ name: String, _ format: PixelFormat, _ size: String, _ threads: Int, _ title: String, _ timing: Timing,
        _ limit: Double?
    ) -> Report.Row {
        var row = Report.Row(workload: name, format: format.rawValue, threads: threads, size: size, title: title)
        row.ours = timing.median
        row.oursMinimum = timing.minimum
        row.limit = limit
        return row
    }

    /// One to forty point filters in one graph. The limit of the tenth is what it must stay below: 1.3 times the dearest
    /// of them alone, and one memcpy.
    func measureChains() throws {
        for threads in options.threads {
            let alone = OurWay.points
            let counts = [1, 2, 3, 5, 7, 10, 15, 20, 30, 40]
            let ways =
                alone.map { OurWay.chain([$0]) }
                + counts.map { count in OurWay.chain((0..<count).map { alone[$0 % alone.count] }) }
            // Each counts for itself, so none of them is left out for being slower.
            var competitors = try ways.enumerated().map { index, way in
                var competitor = Competitor.ours(
                    way, try run(way, .rgba, options.width, options.height, threads: threads))
                competitor.group = "\(index)"
                return competitor
            }
            for peer in peers where peer.name == "memory" {
                competitors.append(
                    Competitor(
                        group: "limit", way: "memcpy",
                        run: { try peer.run("copy", "rgba", "memcpy", threads: threads, iterations: $0) },
                        output: { [] }))
            }
            let timings = Interleaving(rounds: options.rounds).measure(competitors) { _, _ in (nil, nil) }
            let copy = timings.first { $0.group == "limit" }
            for (index, filter) in alone.enumerated() {
                let name = filter.prefix { $0 != "{" }
                add(row("chain-alone", .rgba, size, threads, "\(name) alone", timings[index], copy?.median))
            }
            let dearest = timings[..<alone.count].map(\.median).max() ?? .nan
            for (index, count) in counts.enumerated() {
                let limit = count == 10 ? dearest * 1.3 + (copy?.median ?? 0) : copy?.median
                let title =
                    count == 10
                    ? "10 filters in a row; limit: 1.3 times the dearest alone plus a memcpy"
                    : "\(count) filter\(count == 1 ? "" : "s") in a row"
                add(row("chain-\(count)", .rgba, size, threads, title, timings[alone.count + index], limit))
            }
        }
    }

    /// The pass of ten filters, compiled from nothing, and read from the cache on disk by a compiler that has not seen it.
    func measureCompiling() throws {
        let graph = try run(OurWay.chain(OurWay.points), .rgba, options.width, options.height, threads: 1)
        guard let descriptions = graph.engine.plan?.passes.map(\.compiled.description), !descriptions.isEmpty else {
            throw BenchProblem("the chain has no pass")
        }
        let cache = folder + "/cache"
        func compile(_ cache: String?) throws -> (milliseconds: Double, origins: Set<String>) {
            let start = monotonicNanoseconds()
            let compiler = KernelCompiler(CompilerOptions(cacheDirectory: cache))
            let origins = try descriptions.map { try compiler.compile($0).origin.rawValue }
            return (Double(monotonicNanoseconds() - start) / 1e6, Set(origins))
        }
        var cold = Timing(group: "ours", way: "cold")
        var disk = Timing(group: "ours", way: "disk")
        var origins: Set<String> = []
        _ = try compile(cache)
        for _ in 0..<max(9, options.rounds) {
            cold.milliseconds.append(try compile(nil).milliseconds)
            let loaded = try compile(cache)
            disk.milliseconds.append(loaded.milliseconds)
            origins.formUnion(loaded.origins)
        }
        let ten = "ten filters (\(descriptions.count) pass\(descriptions.count == 1 ? "" : "es"))"
        add(row("compile-cold", .rgba, size, 1, "\(ten), from nothing; limit: what is allowed", cold, 40))
        var fromDisk = row(
            "compile-disk", .rgba, size, 1, "\(ten), from the disk cache; limit: what is allowed", disk, 3)
        if origins != ["diskCache"] {
            fromDisk.title = "the disk cache was not used (\(origins.sorted()))"
            (fromDisk.ours, fromDisk.oursMinimum) = (nil, nil)
        }
        add(fromDisk)
    }

    /// One thread beside two, for the look at 720p and at 1080p, in turns. `ours` is the time, the title has the gain.
    func measureScaling() throws {
        let way = OurWay(name: "graph", graph: "picture{'a'} >> \(OurWay.look) >> result{'out'}")
        for (width, height) in [(1280, 720), (1920, 1080)] {
            for format in [PixelFormat.rgba, .yuv420p] {
                let competitors = try [1, 2].map { threads in
                    var competitor = Competitor.ours(way, try run(way, format, width, height, threads: threads))
                    competitor.group = "\(threads)"
                    return competitor
                }
                let timings = Interleaving(rounds: options.rounds).measure(competitors) { _, _ in (nil, nil) }
                for (index, timing) in timings.enumerated() {
                    let gain = timings[0].median / timing.median
                    let title =
                        "W1 \(format.rawValue)" + (index == 0 ? "" : ", \(rounded(gain)) times as fast as one thread")
                    add(row("scaling", format, "\(width)x\(height)", index + 1, title, timing, nil))
                }
            }
        }
    }

    /// Beautify and skinSmooth at the sizes they are used at, for `loop`.
    func beautifyRuns(threads: Int) throws -> [(String, OurRun)] {
        try [(640, 480), (1280, 720), (1920, 1080)].flatMap { width, height in
            try ["beautify", "skinSmooth"].map { name in
                let way = OurWay(name: "graph", graph: "picture{'a'} >> filter.\(name){} >> result{'out'}")
                return ("\(name) \(width)x\(height)", try run(way, .yuv420p, width, height, threads: threads))
            }
        }
    }

    /// Beautify at the sizes it is used at. The limits are the aims.
    func measureBeautify() throws {
        for (width, height, limit) in [(640, 480, 2.2), (1280, 720, 6.5), (1920, 1080, 14)] {
            for (name, graph) in [
                ("beautify", "picture{'a'} >> filter.beautify{} >> result{'out'}"),
                ("beautify-skinSmooth", "picture{'a'} >> filter.skinSmooth{} >> result{'out'}"),
            ] {
                guard OurRun.catalog.names.contains(name.split(separator: "-").last.map(String.init) ?? name) else {
                    continue
                }
                for threads in options.threads {
                    let way = OurWay(name: "graph", graph: graph)
                    let competitor = Competitor.ours(
                        way, try run(way, .yuv420p, width, height, threads: threads))
                    let timing = Interleaving(rounds: options.rounds).measure([competitor]) { _, _ in (nil, nil) }[0]
                    add(
                        row(
                            name, .yuv420p, "\(width)x\(height)", threads,
                            threads == 2 ? "limit: the aim on two threads" : "on one thread", timing,
                            threads == 2 ? limit : nil))
                }
            }
        }
    }

    // MARK: Every filter

    /// Milliseconds a frame of each filter of the library, at 720p and 1080p, its knobs turned to where it works.
    func measureFilters() throws {
        var table: [FilterTable.Line] = []
        let threads = options.threads.max() ?? 1
        try FilterTable.writeTables(into: folder)
        for name in OurRun.catalog.names {
            var line = FilterTable.Line(name: name, milliseconds: [], passes: 0, problem: nil)
            do {
                let filter = try OurRun.catalog.filter(name)
                let graph = FilterTable.graph(of: filter)
                for (width, height) in [(1280, 720), (1920, 1080)] {
                    let way = OurWay(name: name, graph: graph)
                    let pictures = Dictionary(
                        uniqueKeysWithValues: filter.ports.enumerated().map {
                            ("p\($0.offset)", framesForFilters(width, height, $0.offset))
                        })
                    let format = VideoFormat(.yuv420p, width: width, height: height, color: TestPictures.video)
                    let run = try OurRun(
                        way, size: (width, height), pictures: pictures, results: ["out": format], folder: folder,
                        threads: threads, processor: options.processor)
                    _ = try run.times(2)
                    let first = try run.times(3)
                    let more = try run.times((first.min() ?? 0) < 15 ? 12 : 3)
                    line.milliseconds.append(Timing.median(first + more))
                    line.passes = run.engine.plan?.steps.count ?? 0
                }
            } catch {
                line.problem = "\(error)"
            }
            table.append(line)
            FileHandle.standardOutput.write(Data((line.text + "\n").utf8))
        }
        let text = FilterTable.markdown(table, threads: threads)
        if let path = options.filterDocument { try text.write(toFile: path, atomically: true, encoding: .utf8) }
        for line in table {
            for (index, time) in line.milliseconds.enumerated() {
                var timing = Timing(group: "ours", way: "graph")
                timing.milliseconds = [time]
                add(
                    row(
                        "filter-\(line.name)", .yuv420p, ["1280x720", "1920x1080"][index], threads,
                        "filter \(line.name)",
                        timing, index == 0 ? 33 : nil))
            }
        }
    }

    /// The video for a filter's port, at a size: the first motif, or for further ports the second.
    private func framesForFilters(_ width: Int, _ height: Int, _ port: Int) -> Frame {
        let key = "\(width)x\(height) \(port == 0)"
        if let known = scaledPictures[key] { return known }
        let frame = Frame(
            allocating: VideoFormat(.yuv420p, width: width, height: height, color: TestPictures.video))
        let source = pictures.byName[port == 0 ? "yuv420p" : "b-yuv420p"] ?? pictures.yuv420p
        for index in 0..<3 {
            let (columns, rows) = (frame.rowBytes(ofPlane: index), frame.rows(ofPlane: index))
            let (from, lines) = (source.rowBytes(ofPlane: index), source.rows(ofPlane: index))
            for y in 0..<rows {
                let row = frame.plane(index).row(y).assumingMemoryBound(to: UInt8.self)
                let other = source.plane(index).row(y * lines / rows).assumingMemoryBound(to: UInt8.self)
                for x in 0..<columns { row[x] = other[x * from / columns] }
            }
        }
        scaledPictures[key] = frame
        return frame
    }
}
