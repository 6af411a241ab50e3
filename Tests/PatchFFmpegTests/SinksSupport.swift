import Foundation
import PatchFFmpeg
import PatchGraph
import PatchMedia
import PatchTesting
import Testing

/// Runs an independent program to its end.
@discardableResult
func run(_ command: String, _ arguments: [String]) throws -> ProgramOutcome {
    try Program.run(command, arguments, mayFail: true)
}

/// A folder on a disk of its own of `kilobytes`, a tmpfs; nil where mounting is not allowed.
final class SmallDisk {
    let folder: TemporaryDirectory

    init?(kilobytes: Int) throws {
        folder = try TemporaryDirectory()
        guard try run("mount", ["-t", "tmpfs", "-o", "size=\(kilobytes)k", "tmpfs", folder.path]).exitCode == 0 else {
            return nil
        }
    }

    deinit { _ = try? run("umount", [folder.path]) }

    /// A file whose every write finds the disk full, for machines that allow no mount.
    static func fullFile(_ name: String, in folder: TemporaryDirectory) throws -> String {
        try FileManager.default.createSymbolicLink(atPath: folder.file(name), withDestinationPath: "/dev/full")
        return folder.file(name)
    }
}

/// One field of each line that ffprobe prints for `entries`.
func probe(_ file: String, _ entries: String, stream: String? = nil, extra: [String] = []) throws -> [String] {
    var arguments = ["-v", "error", "-of", "default=nw=1:nk=1", "-show_entries", entries]
    if let stream { arguments += ["-select_streams", stream] }
    return try run("ffprobe", arguments + extra + [file]).text.split(separator: "\n").map(String.init)
}

/// Collects what a node reports.
final class Reports: Sendable {
    private let events = Monitor<[NodeEvent]>([])
    func add(_ event: NodeEvent) { events.notify { $0.append(event) } }
    var all: [NodeEvent] { events.withLock { $0 } }
    var states: [String] { all.compactMap { if case .state(let state) = $0 { state } else { nil } } }
    var problems: [PatchError] { all.compactMap { if case .problem(let error) = $0 { error } else { nil } } }
    var notices: [String] { all.compactMap { if case .notice(let text) = $0 { text } else { nil } } }

    /// Waits for a state that is reported after the first `count` events.
    func waitForState(_ state: String, after count: Int = 0, seconds: Double) -> Bool {
        events.wait(until: monotonicNanoseconds() + Int64(seconds * 1e9)) { events -> Bool? in
            events.dropFirst(count).contains { if case .state(state) = $0 { true } else { false } } ? true : nil
        } ?? false
    }
}

func makeSink(
    _ kind: String, _ options: [String: OptionValue], reports: Reports = Reports(), isOffline: Bool = false,
    shared: SharedWork = SharedWork()
) throws -> any MediaSink {
    let found = try #require((MediaSinks.kinds + [RawDataOutput.kind]).first { $0.schema.kind == kind })
    guard case .sink(let make) = found.factory else { throw PatchError(.usage, "\(kind) is no sink") }
    let environment = NodeEnvironment(
        nodeID: "out", location: SourceLocation(file: "test.lua", line: 7), isOffline: isOffline,
        shared: shared, report: { reports.add($0) })
    return try make(NodeOptions(options), environment)
}

/// Plays the engine's part for sinks: frames of flat grey, a white flash and a click at each full second.
final class Feeder {
    private var sinks: [any MediaSink]
    let rate: FrameRate
    let request: SinkRequest
    var tick: Int64
    /// Of the plan that the deliveries come from.
    var generation = 1
    private let offered: VideoFormat
    private var sequence: Int64 = 0
    private let pool: FramePool?
    private let hasSound: Bool

    var sink: any MediaSink { sinks[0] }

    /// Frames that the pool made because earlier ones were still in use.
    var framesInPool: Int? { pool?.count }

    /// Luma of frame `tick`, apart from flashes: a step of 8 a frame that repeats after 16 frames.
    static func luma(_ tick: Int64) -> UInt8 { UInt8(48 + tick % 16 * 8) }

    init(
        _ sinks: [any MediaSink], width: Int = 320, height: Int = 240, rate: FrameRate = FrameRate(30),
        sound: Bool = true, startTick: Int64 = 0
    ) throws {
        self.sinks = sinks
        self.rate = rate
        tick = startTick
        offered = VideoFormat(.yuv420p, width: width, height: height)
        request = try sinks[0].negotiate(offered: offered, hasSound: sound, rate: rate)
        pool = request.video.map { FramePool(format: $0) }
        hasSound = request.audio != nil
        for sink in sinks { try open(sink) }
    }

    convenience init(
        _ sink: any MediaSink, width: Int = 320, height: Int = 240, rate: FrameRate = FrameRate(30), sound: Bool = true,
        startTick: Int64 = 0
    ) throws {
        try self.init([sink], width: width, height: height, rate: rate, sound: sound, startTick: startTick)
    }

    /// Opens another sink, which gets the frames from now on.
    func add(_ sink: any MediaSink) throws {
        try open(sink)
        sinks.append(sink)
    }

    private func open(_ sink: any MediaSink) throws {
        let wanted = try sink.negotiate(offered: offered, hasSound: hasSound, rate: rate)
        try sink.open(video: wanted.video, audio: wanted.audio, rate: rate)
    }

    /// Ends one of the sinks on a thread of its own, as the engine does when an edit takes it away.
    func remove(_ sink: any MediaSink) {
        sinks.removeAll { $0 === sink }
        ending.append(try? PosixThread(name: "end") { sink.finish() })
    }
    private var ending: [PosixThread?] = []

    /// Ends all sinks, each on its own thread, as the engine does at the end.
    func finish() {
        for sink in sinks { remove(sink) }
        for thread in ending { thread?.join() }
        ending = []
    }

    /// Delivers the next tick; `flash` makes its picture white and its sound begin with a click.
    /// - Parameter taps: which picture each sink gets; picture 1 is that of 8 ticks later.
    func feed(flashes: Bool = false, taps: [Int] = [], paint: ((Frame, Int64) -> Void)? = nil) throws {
        let perSecond = Int64(rate.perSecond.rounded())
        let flash = flashes && tick % perSecond == 0
        var frames: [Frame?] = []
        for tap in 0...(taps.max() ?? 0) {
            guard let pool else {
                frames.append(nil)
                continue
            }
            let taken = try #require(pool.take())
            if let paint {
                paint(taken, tick)
            } else {
                Feeder.fill(taken, luma: flash ? 235 : Feeder.luma(tick + Int64(tap * 8)))
            }
            taken.pts = rate.time(ofFrame: tick)
            frames.append(taken)
        }
        var block: AudioBlock?
        if hasSound {
            let format = request.audio ?? AudioFormat()
            func before(_ tick: Int64) -> Int64 { rate.time(ofFrame: tick).floored(to: Int64(format.sampleRate)) }
            let count = Int(before(tick + 1) - before(tick))
            let sound = AudioBlock(format: format, capacity: count)
            sound.count = count
            sound.pts = rate.time(ofFrame: tick)
            if flash {
                for channel in 0..<format.channels {
                    for index in 0..<min(count, 480) {
                        sound.channel(channel)[index] = index / 24 % 2 == 0 ? 0.8 : -0.8
                    }
                }
            }
            block = sound
        }
        for (index, sink) in sinks.enumerated() {
            let tap = index < taps.count ? taps[index] : 0
            try sink.consume(
                Delivery(
                    frame: frames[tap], sound: block, pts: rate.time(ofFrame: tick), duration: rate.frameDuration,
                    tick: tick, sequence: sequence, hostTime: monotonicNanoseconds(),
                    tap: Delivery.Tap(generation: generation, index: tap)))
        }
        tick += 1
        sequence += 1
    }

    func feed(count: Int, flashes: Bool = false, taps: [Int] = []) throws {
        for _ in 0..<count { try feed(flashes: flashes, taps: taps) }
    }

    /// Leaves out ticks, as a full queue in front of the sink does.
    func skip(_ count: Int64) {
        tick += count
        sequence += count
    }

    static func fill(_ frame: Frame, luma: UInt8) {
        let format = frame.format.pixelFormat
        for index in 0..<format.planeCount {
            let (layout, plane) = (format.layout(ofPlane: index), frame.plane(index))
            let bytes = layout.width(of: frame.width) * layout.bytesPerPixel
            for y in 0..<layout.height(of: frame.height) {
                if format.bitDepth > 8 {
                    let row = plane.row(y).assumingMemoryBound(to: UInt16.self)
                    for x in 0..<bytes / 2 { row[x] = index == 0 ? UInt16(luma) * 4 : 512 }
                } else {
                    memset(plane.row(y), Int32(index == 0 ? luma : 128), bytes)
                }
            }
        }
    }
}

/// The mean luma code (limited range, as stored) of every decoded frame, by ffmpeg.
func decodedLuma(_ file: String) throws -> [Int] {
    let output = try run(
        "ffmpeg",
        [
            "-v", "error", "-i", file, "-map", "0:v", "-vf", "scale=2:2:flags=area", "-pix_fmt", "yuv420p",
            "-fps_mode", "passthrough", "-f", "rawvideo", "-",
        ])
    // Four bytes of luma and two of chroma a frame.
    return stride(from: 0, to: output.output.count, by: 6).map { Int(output.output[$0]) }
}

/// Times of pictures in seconds, sorted.
func pictureTimes(_ file: String) throws -> [Double] {
    try probe(file, "packet=pts_time", stream: "v").compactMap(Double.init).sorted()
}

/// Checks that pictures follow each other by exactly one frame, within what the container can express.
func expectCadence(
    _ times: [Double], rate: FrameRate, tolerance: Double, sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
    let frame = rate.frameDuration.seconds
    for (index, time) in times.enumerated() {
        let expected = times[0] + Double(index) * frame
        #expect(
            abs(time - expected) <= tolerance, "frame \(index) is at \(time), not \(expected)",
            sourceLocation: sourceLocation)
        if abs(time - expected) > tolerance { return }
    }
}

/// Seconds from each flash to its click in a file (positive: sound is late), by decoding both with ffmpeg.
func soundOffsets(_ file: String) throws -> [Double] {
    let luma = try decodedLuma(file)
    let times = try probe(file, "frame=pts_time", stream: "v").compactMap(Double.init)
    // The first picture of each flash: a busy machine may repeat one.
    let flashes = luma.indices.filter { luma[$0] > 220 && ($0 == 0 || luma[$0 - 1] <= 220) && $0 < times.count }
        .map { times[$0] }
    // The filter puts silence before the first sample, so that sample 0 is at time 0.
    let sound = try run(
        "ffmpeg",
        [
            "-v", "error", "-copyts", "-i", file, "-map", "0:a", "-af", "aresample=async=1:first_pts=0", "-ac", "1",
            "-ar",
            "48000", "-f", "f32le", "-",
        ])
    let samples = sound.output.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    var (clicks, last): ([Double], Int) = ([], -48_000)
    for (index, sample) in samples.enumerated() where abs(sample) > 0.3 {
        if index - last > 24_000 { clicks.append(Double(index) / 48_000) }
        last = index
    }
    // A recording that was cut off may end between a flash and its click.
    #expect(abs(flashes.count - clicks.count) <= 1 && !flashes.isEmpty)
    return clicks.compactMap { click in
        flashes.map { click - $0 }.min { abs($0) < abs($1) }.flatMap { abs($0) < 0.5 ? $0 : nil }
    }
}
