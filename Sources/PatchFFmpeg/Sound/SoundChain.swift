internal import CFFmpeg
import PatchMedia

/// A chain of libavfilter's sound filters at work (AVFilterGraph): as many samples come out as went in.
///
/// Filters collect samples before they give some out. `SoundChain` finds out how many a chain holds back at most and begins
/// with that much silence, so that each block has its full length; `latency` says how much it is.
/// Not thread-safe: made on a control thread, then used by one other.
final class SoundChain {
    /// Samples a channel that go into a chain at once.
    static let step = 2048
    /// The most that a chain may hold back, in samples: 10 s.
    static let mostHeld = 480_000

    let text: String
    let format: AudioFormat
    /// Samples by which what comes out is late because the chain collects them.
    private(set) var latency = 0
    /// Samples until a chain that begins, or is told something, gives nothing but what is new; `latency` at least.
    private(set) var settling = 0
    private var graph: UnsafeMutablePointer<AVFilterGraph>?
    private var source: UnsafeMutablePointer<AVFilterContext>?
    private var sink: UnsafeMutablePointer<AVFilterContext>?
    private var pool: OpaquePointer?
    private let frame: AVFrameHandle
    private var queue: SampleQueue
    private var layout = AVChannelLayout()
    private var position: Int64 = 0
    /// Samples that were missing so far and are silence.
    private var missing = 0

    private static let rowBytes = step * MemoryLayout<Float>.stride
    /// Bytes that vector code may read or write past the end.
    private static let padding = 256

    /// - Throws: `PatchError` with libavfilter's own words; also when what comes out is longer or shorter than what goes in.
    init(_ text: String, format: AudioFormat, longestBlock: Int) throws {
        self.text = text
        self.format = format
        frame = try AVFrameHandle()
        queue = SampleQueue(channels: format.channels, capacity: 0)
        av_channel_layout_default(&layout, Int32(format.channels))
        pool = av_buffer_pool_init(Self.rowBytes * format.channels + Self.padding, nil)
        guard pool != nil else { throw outOfMemory("an ffmpeg chain") }
        try open()
        latency = try findLatency()
        try open()
        settling = latency + (try findOnset())
        // Filters count time: the chain that is heard begins at its beginning.
        try open()
        queue = SampleQueue(
            channels: format.channels, capacity: 2 * latency + longestBlock + 2 * Self.step)
        queue.appendSilence(latency)
    }

    deinit {
        avfilter_graph_free(&graph)
        av_buffer_pool_uninit(&pool)
        av_channel_layout_uninit(&layout)
    }

    // MARK: Making the graph

    func open() throws {
        FFmpegLog.silence()
        FFmpegLog.forget()
        avfilter_graph_free(&graph)
        position = 0
        guard let graph = avfilter_graph_alloc() else { throw outOfMemory("an ffmpeg chain") }
        self.graph = graph
        // The work is a fraction of a millisecond: threads would cost more than they save.
        graph.pointee.nb_threads = 1
        var name = [CChar](repeating: 0, count: 128)
        av_channel_layout_describe(&layout, &name, name.count)
        let layoutName = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let source = try make(
            "abuffer", "patchbay_in",
            "sample_rate=\(format.sampleRate):sample_fmt=fltp:channel_layout=\(layoutName)"
                + ":time_base=1/\(format.sampleRate)", graph)
        // Turns whatever comes out back into what went in; does nothing where it is that already.
        let last = try make(
            "aformat", "patchbay_format",
            "sample_fmts=fltp:sample_rates=\(format.sampleRate):channel_layouts=\(layoutName)", graph)
        let sink = try make("abuffersink", "patchbay_out", nil, graph)
        guard avfilter_link(last, 0, sink, 0) >= 0 else { throw outOfMemory("an ffmpeg chain") }
        (self.source, self.sink) = (source, sink)
        var outputs = avfilter_inout_alloc()
        var inputs = avfilter_inout_alloc()
        defer {
            avfilter_inout_free(&outputs)
            avfilter_inout_free(&inputs)
        }
        guard outputs != nil, inputs != nil else { throw outOfMemory("an ffmpeg chain") }
        outputs?.pointee.name = av_strdup("in")
        outputs?.pointee.filter_ctx = source
        inputs?.pointee.name = av_strdup("out")
        inputs?.pointee.filter_ctx = last
        var status = avfilter_graph_parse_ptr(graph, text, &inputs, &outputs, nil)
        guard status >= 0 else { throw failure("cannot be made", status) }
        guard inputs == nil, outputs == nil else {
            throw PatchError(
                .script, "the ffmpeg chain \"\(text.prefix(200))\" has open ends",
                remedy: "it reads one sound, without a label or labelled [in], and has one result, without a label or "
                    + "labelled [out]")
        }
        status = avfilter_graph_config(graph, nil)
        guard status >= 0 else { throw failure("cannot be set up", status) }
        try checkBiquads(graph)
    }

    private func make(
        _ filter: String, _ name: String, _ arguments: String?, _ graph: UnsafeMutablePointer<AVFilterGraph>
    ) throws -> UnsafeMutablePointer<AVFilterContext> {
        var made: UnsafeMutablePointer<AVFilterContext>?
        let status = avfilter_graph_create_filter(&made, avfilter_get_by_name(filter), name, arguments, nil, graph)
        guard status >= 0, let made else { throw failure("cannot be made", status) }
        return made
    }

    private func failure(_ what: String, _ status: Int32) -> PatchError {
        PatchError(
            .script, "the ffmpeg chain \"\(text.prefix(200))\" \(what)",
            remedy: "try it with `ffmpeg -af`; `patchbay filters --ffmpeg NAME` lists a filter's options",
            cause: FFmpegLog.firstLine ?? AVError.text(status))
    }

    func lengthened() -> PatchError {
        PatchError(
            .script, "the ffmpeg chain \"\(text.prefix(200))\" makes more sound than goes in",
            remedy: "take the filter out that changes how long sound is")
    }

    // MARK: Sound

    /// Sends a block through the chain and writes the result of the same length to `rows`.
    /// - Throws: `PatchError` when a filter fails; the chain must then not be used again.
    func process(_ block: AudioBlock, into rows: (Int) -> UnsafeMutablePointer<Float>) throws {
        var offset = 0
        while offset < block.count {
            let portion = min(Self.step, block.count - offset)
            try push(portion) { row, index in row.update(from: block.channel(index) + offset, count: portion) }
            _ = try pull { count, rows in
                guard count <= queue.room else { throw lengthened() }
                queue.append(count: count, channel: rows)
            }
            offset += portion
        }
        if queue.count < block.count { try fill(block.count - queue.count) }
        queue.take(block.count, channel: rows)
    }

    /// The chain holds back more than it did with silence.
    private func fill(_ lack: Int) throws {
        missing += lack
        guard latency + missing <= Self.mostHeld else {
            throw PatchError(
                .media, "the ffmpeg chain \"\(text.prefix(200))\" gives less sound than goes in",
                remedy: "take the filter out that leaves sound out")
        }
        queue.appendSilence(lack)
    }

    func push(_ count: Int, _ write: (UnsafeMutablePointer<Float>, Int) -> Void) throws {
        guard let buffer = av_buffer_pool_get(pool) else { throw outOfMemory("an ffmpeg chain") }
        let carrier = frame.pointer
        carrier.pointee.buf.0 = buffer
        patch_lay_rows(carrier, buffer.pointee.data, Int32(format.channels), Int32(Self.rowBytes))
        carrier.pointee.format = AV_SAMPLE_FMT_FLTP.rawValue
        carrier.pointee.sample_rate = Int32(format.sampleRate)
        carrier.pointee.nb_samples = Int32(count)
        av_channel_layout_copy(&carrier.pointee.ch_layout, &layout)
        carrier.pointee.pts = position
        patch_set_frame_duration(carrier, Int64(count))
        position += Int64(count)
        for index in 0..<format.channels {
            write(patch_sound_row(carrier, Int32(index)), index)
        }
        let status = av_buffersrc_add_frame_flags(source, carrier, 0)
        av_frame_unref(carrier)
        guard status >= 0 else { throw failure("fails", status) }
    }

    /// Takes out what has come.
    /// - Parameter take: how many samples, and the rows of their channels, valid until it returns.
    /// - Returns: samples a channel that came out.
    func pull(_ take: (Int, (Int) -> UnsafePointer<Float>) throws -> Void) throws -> Int {
        let carrier = frame.pointer
        var got = 0
        while true {
            let status = av_buffersink_get_frame_flags(sink, carrier, 0)
            if status == AVError.again { return got }
            defer { av_frame_unref(carrier) }
            guard status >= 0 else {
                throw status == AVError.eof
                    ? PatchError(
                        .media, "the ffmpeg chain \"\(text.prefix(200))\" has ended",
                        remedy: "take the filter out that ends sound") : failure("fails", status)
            }
            let count = Int(carrier.pointee.nb_samples)
            got += count
            try take(count) { UnsafePointer(patch_sound_row(carrier, Int32($0))) }
        }
    }

    // MARK: Commands

    /// Tells the filters called `target` (their name, or name@id) that an option has another value
    /// (avfilter_graph_send_command).
    /// - Returns: false when they refuse it.
    func tell(
        _ target: UnsafePointer<CChar>, _ name: UnsafePointer<CChar>, _ argument: UnsafePointer<CChar>
    ) -> Bool {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { answer in
            answer.initialize(repeating: 0)
            return avfilter_graph_send_command(graph, target, name, argument, answer.baseAddress, 255, 0) >= 0
        }
    }
}
