internal import CFFmpeg
import Glibc
import PatchGraph
import PatchMedia

/// A chain of libavfilter at work (AVFilterGraph): pictures in, the newest picture out.
///
/// It decides neither size nor rate: a chain that gives fewer pictures than ticks keeps its last one, of more the newest
/// counts. Time goes in and comes out in ticks.
/// Thread-safety: as `GuestWorker`; made on a control thread, which then leaves it to the guest's thread.
final class FilterChain: GuestWorker, @unchecked Sendable {
    // Unchecked: `graph` and what belongs to it are touched by `init`, then by the guest's thread alone; GuestRun's lock
    // orders the hand-over. `deinit` comes after both.
    let text: String
    let ports: [String]
    let inputs: [VideoFormat]
    private(set) var output: VideoFormat
    private let rate: FrameRate
    private let report: @Sendable (NodeEvent) -> Void
    private var graph: UnsafeMutablePointer<AVFilterGraph>?
    private var sources: [UnsafeMutablePointer<AVFilterContext>] = []
    private var sink: UnsafeMutablePointer<AVFilterContext>?
    private var pools: [PicturePool] = []
    private let picture: AVFrameHandle
    private let borrowed = BorrowedFramePool<AVFrameStorage>(limit: 256) { AVFrameStorage() }
    /// Repeated when the chain is made again after a failure.
    private var told: [(target: String, name: String, argument: String)]
    private var hasEnded = false
    private var saidColour = false

    /// Pictures that one input picture may lead to.
    private static let mostPictures = 120

    /// - Throws: `PatchError` with libavfilter's own words.
    init(
        _ text: String, ports: [String], inputs: [VideoFormat], rate: FrameRate,
        told: [(target: String, name: String, argument: String)] = [], report: @escaping @Sendable (NodeEvent) -> Void
    ) throws {
        self.text = text
        self.ports = ports
        self.inputs = inputs
        self.rate = rate
        self.told = told
        self.report = report
        output = VideoFormat(.rgba, width: 1, height: 1)
        picture = try AVFrameHandle()
        try open()
    }

    deinit { close() }

    // MARK: Making the graph

    private func open() throws {
        FFmpegLog.silence()
        FFmpegLog.forget()
        guard let graph = avfilter_graph_alloc() else { throw outOfMemory("an ffmpeg chain") }
        self.graph = graph
        sources = []
        var open: UnsafeMutablePointer<AVFilterInOut>?
        var ends: UnsafeMutablePointer<AVFilterInOut>?
        defer {
            avfilter_inout_free(&open)
            avfilter_inout_free(&ends)
        }
        // Chained back to front, as the list grows at its head.
        for (index, format) in inputs.enumerated().reversed() {
            let source = try makeSource(index, format, in: graph)
            sources.insert(source, at: 0)
            guard let entry = avfilter_inout_alloc() else { throw outOfMemory("an ffmpeg chain") }
            entry.pointee.name = av_strdup(ports[index])
            entry.pointee.filter_ctx = source
            entry.pointee.pad_idx = 0
            entry.pointee.next = open
            open = entry
        }
        let sink = try makeSink(in: graph)
        self.sink = sink
        guard let end = avfilter_inout_alloc() else { throw outOfMemory("an ffmpeg chain") }
        end.pointee.name = av_strdup("out")
        end.pointee.filter_ctx = sink
        end.pointee.pad_idx = 0
        end.pointee.next = nil
        ends = end
        var status = avfilter_graph_parse_ptr(graph, text, &ends, &open, nil)
        guard status >= 0 else { throw failure("cannot be made", status) }
        try checkEnds(inputs: ends, outputs: open)
        status = avfilter_graph_config(graph, nil)
        guard status >= 0 else { throw failure("cannot be set up", status) }
        try readOutput(sink)
        pools = try inputs.map { try PicturePool($0) }
        for command in told { try? send(command.target, command.name, command.argument) }
        hasEnded = false
    }

    /// After parsing, everything must be connected.
    /// - Parameters:
    ///   - inputs: what still waits for a picture: filters' inputs, or our own end.
    ///   - outputs: what nobody reads: our sources, or filters' outputs.
    private func checkEnds(
        inputs: UnsafeMutablePointer<AVFilterInOut>?, outputs: UnsafeMutablePointer<AVFilterInOut>?
    ) throws {
        func label(_ end: UnsafeMutablePointer<AVFilterInOut>) -> String? {
            end.pointee.name.map { String(cString: $0) }
        }
        var output = outputs
        while let end = output {
            output = end.pointee.next
            guard let context = end.pointee.filter_ctx, sources.contains(context) else { continue }
            let name = label(end) ?? ""
            throw PatchError(
                .script, "the ffmpeg chain does not read the input '\(name)'",
                remedy: "write [\(name)] before the filter that reads it")
        }
        if let end = inputs {
            if end.pointee.filter_ctx == sink {
                throw PatchError(
                    .script, "the ffmpeg chain has no open end that could be its result",
                    remedy: "leave the last filter's output without a label, or label it [out]")
            }
            throw PatchError(
                .script, "an input of the ffmpeg chain has no picture\(label(end).map { ": [\($0)]" } ?? "")",
                remedy: "name it in inputs = { … } and wire a node to it")
        }
        if let end = outputs {
            throw PatchError(
                .script, "nobody reads an output of the ffmpeg chain\(label(end).map { ": [\($0)]" } ?? "")",
                remedy: "a chain has one result, without a label or labelled [out]")
        }
    }

    private func makeSource(
        _ index: Int, _ format: VideoFormat, in graph: UnsafeMutablePointer<AVFilterGraph>
    ) throws -> UnsafeMutablePointer<AVFilterContext> {
        guard let pixelFormat = format.pixelFormat.avFormat else {
            throw PatchError(.graph, "ffmpeg cannot read \(format.pixelFormat.rawValue)")
        }
        let time = rate.avRational
        var arguments =
            "video_size=\(format.width)x\(format.height):pix_fmt=\(pixelFormat.rawValue)"
            + ":time_base=\(time.den)/\(time.num):frame_rate=\(time.num)/\(time.den):pixel_aspect=1/1"
        if patch_buffer_has_colour() != 0 {
            let matrix = format.color.avMatrix(isYCbCr: format.pixelFormat.isYCbCr)
            arguments += ":colorspace=\(matrix.rawValue):range=\(format.color.avRange.rawValue)"
        }
        var source: UnsafeMutablePointer<AVFilterContext>?
        let status = avfilter_graph_create_filter(
            &source, avfilter_get_by_name("buffer"), "patchbay_\(ports[index])", arguments, nil, graph)
        guard status >= 0, let source else { throw failure("cannot take \(format)", status) }
        return source
    }

    private func makeSink(
        in graph: UnsafeMutablePointer<AVFilterGraph>
    ) throws -> UnsafeMutablePointer<AVFilterContext> {
        var sink: UnsafeMutablePointer<AVFilterContext>?
        var status = avfilter_graph_create_filter(
            &sink, avfilter_get_by_name("buffersink"), "patchbay_result", nil, nil, graph)
        guard status >= 0, let sink else { throw failure("cannot give pictures", status) }
        let formats = PixelFormat.allCases.compactMap { $0.avFormat?.rawValue }
        status = patch_set_sink_formats(sink, formats + [AV_PIX_FMT_NONE.rawValue], Int32(formats.count))
        guard status >= 0 else { throw failure("cannot give pictures", status) }
        return sink
    }

    private func readOutput(_ sink: UnsafeMutablePointer<AVFilterContext>) throws {
        let (width, height) = (Int(av_buffersink_get_w(sink)), Int(av_buffersink_get_h(sink)))
        let avFormat = AVPixelFormat(rawValue: av_buffersink_get_format(sink))
        guard let pixelFormat = PixelFormat(avFormat), (1...VideoFormat.maximumSide).contains(width),
            (1...VideoFormat.maximumSide).contains(height)
        else {
            throw PatchError(
                .graph, "the ffmpeg chain gives \(width)x\(height) pixels of kind \(name(of: avFormat))",
                remedy: "end it with scale=… or format=yuv420p")
        }
        let first = inputs.first
        var color = first.map(\.color) ?? ColorSpec()
        if let first, first.pixelFormat.isYCbCr != pixelFormat.isYCbCr {
            // libswscale converts to BT.601 where nothing is said.
            color = pixelFormat.isYCbCr ? .bt601 : .srgb
        }
        output = VideoFormat(pixelFormat, width: width, height: height, color: color)
    }

    /// The format that the chain's first filter turns an input into before it works, when it does: given in that format at
    /// once, the conversion is spared.
    func preferredFormat(ofPort index: Int) -> PixelFormat? {
        guard sources.indices.contains(index), let link = sources[index].pointee.outputs?[0],
            let next = link.pointee.dst, let label = next.pointee.name,
            String(cString: label).hasPrefix("auto_scale"), let after = next.pointee.outputs?[0]
        else { return nil }
        return PixelFormat(AVPixelFormat(rawValue: after.pointee.format))
    }

    private func close() {
        avfilter_graph_free(&graph)
        sources = []
        sink = nil
    }

    private func failure(_ what: String, _ status: Int32) -> PatchError {
        PatchError(
            .script, "the ffmpeg chain \"\(text.prefix(200))\" \(what)",
            remedy: "try it with `ffmpeg -vf`; `patchbay filters --ffmpeg NAME` lists a filter's options",
            cause: FFmpegLog.firstLine ?? AVError.text(status))
    }

    // MARK: Pictures

    func process(_ frames: [Frame], parameters: [Float], at tick: Tick) throws -> Frame? {
        if graph == nil { try open() }
        do { return try run(frames, tick) } catch {
            // A graph that failed is in no known state: the next try has a new one.
            close()
            throw error
        }
    }

    private func run(_ frames: [Frame], _ tick: Tick) throws -> Frame? {
        guard !hasEnded, let sink else { return nil }
        FFmpegLog.forget()
        let carrier = picture.pointer
        for (index, frame) in frames.enumerated() {
            try pools[index].copy(frame, to: carrier, text)
            carrier.pointee.pts = tick.index
            patch_set_frame_duration(carrier, 1)
            let status = av_buffersrc_add_frame_flags(sources[index], carrier, 0)
            av_frame_unref(carrier)
            if status == AVError.eof {
                end()
                return nil
            }
            guard status >= 0 else { throw failure("fails at a picture", status) }
        }
        var newest: Frame?
        for count in 1... {
            let status = av_buffersink_get_frame_flags(sink, carrier, 0)
            if status == AVError.again { break }
            if status == AVError.eof {
                end()
                break
            }
            defer { av_frame_unref(carrier) }
            guard status >= 0 else { throw failure("fails at a picture", status) }
            guard count <= Self.mostPictures else {
                throw PatchError(
                    .media, "the ffmpeg chain gives more than \(Self.mostPictures) pictures for one",
                    remedy: "take the filter that repeats pictures out (zoompan: d=1)")
            }
            newest = try wrap(carrier)
        }
        newest?.pts = tick.time
        newest?.duration = tick.duration
        return newest
    }

    private func end() {
        hasEnded = true
        report(.notice("the ffmpeg chain has ended (trim, select): its last picture stays"))
    }

    private func wrap(_ picture: UnsafeMutablePointer<AVFrame>) throws -> Frame {
        let kind = PixelFormat(AVPixelFormat(rawValue: picture.pointee.format))
        guard kind == output.pixelFormat, Int(picture.pointee.width) == output.width,
            Int(picture.pointee.height) == output.height
        else {
            throw PatchError(
                .media,
                "the ffmpeg chain changed its result to \(picture.pointee.width)x\(picture.pointee.height) "
                    + "\(kind?.rawValue ?? "unknown pixels") while it runs",
                remedy: "end it with scale=\(output.width):\(output.height)")
        }
        let stated = ColorSpec(picture)
        if output.pixelFormat.isYCbCr, stated.matrix != .unspecified, stated.matrix != output.color.matrix, !saidColour
        {
            saidColour = true
            report(
                .notice(
                    "the ffmpeg chain says its result is \(stated.matrix.rawValue); the graph takes it for "
                        + "\(output.color.matrix.rawValue)"))
        }
        borrowed.releaseUnused()
        guard let frame = borrowed.wrap(picture, as: output) else {
            throw PatchError(
                .media, "more than 256 pictures of the ffmpeg chain are held back by the graph",
                remedy: "shorten its delays")
        }
        return frame
    }

    // MARK: Commands

    func tell(_ target: String, _ name: String, _ argument: String) throws {
        told.removeAll { $0.target == target && $0.name == name }
        told.append((target, name, argument))
        guard graph != nil else { return }
        try send(target, name, argument)
    }

    private func send(_ target: String, _ name: String, _ argument: String) throws {
        FFmpegLog.forget()
        var answer = [CChar](repeating: 0, count: 256)
        let status = avfilter_graph_send_command(graph, target, name, argument, &answer, Int32(answer.count - 1), 0)
        guard status >= 0 else {
            told.removeAll { $0.target == target && $0.name == name }
            throw PatchError(
                .usage, "\(target) refuses \(name) = \(argument) while it runs",
                remedy: "`patchbay filters --ffmpeg \(target)` says what may be changed",
                cause: FFmpegLog.firstLine ?? AVError.text(status))
        }
    }
}
