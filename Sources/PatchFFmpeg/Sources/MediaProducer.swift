internal import CFFmpeg
import PatchGraph
import PatchMedia

/// Reads, decodes and queues, one step at a time: what a source's thread does.
///
/// It makes only what the queue asks for and keeps the packets of the other track aside, so that a file that interleaves
/// its tracks badly costs memory (compressed, at most `backlogLimit`) but cannot stop both sides.
///
/// Not thread-safe: one thread at a time.
final class MediaProducer {
    enum Progress {
        case more
        case ended
        /// Reading failed; what was read is still decoded when the caller goes on.
        case failed(PatchError)
    }

    /// How a file is played.
    struct Playback: Sendable {
        var loops = false
        /// From here on, after the file's own beginning.
        var start = MediaTime.zero
        /// Speed as an exact fraction.
        var speed = FrameRate(1)
        /// Applied after what the file says about standing upright.
        var orientation = Orientation.identity
    }

    private struct Track {
        var decoder: TrackDecoder
        var backlog = TrackBacklog()
        /// Added to every time: grows with each loop.
        var offset = MediaTime.zero
        /// What the drained decoder goes on with.
        var pending: TrackBacklog.Entry?
        var isOver = false
        /// Frames since the beginning or the last rewind.
        var made = 0
        /// The place where playing begins was reached: times further back are a jump of the medium's clock.
        var hasBegun = false
        /// When the last packet was to be decoded, and where the packets since the last jump end.
        var lastPacket: MediaTime?
        var end = MediaTime.zero
    }

    private let reader: MediaReader
    private let queue: SourceQueue
    private let playback: Playback
    private let importer: FrameImporter
    private let converter: SoundConverter?
    private let report: @Sendable (NodeEvent) -> Void
    private let comesBack: Bool
    /// A live source on a live clock: its time is stretched to follow ours.
    private let follows: Bool
    private var video: Track?
    private var sound: Track?
    private let origin: MediaTime
    /// How much later the next round will be.
    private var nextOffset = MediaTime.zero
    private var corruptInARow = 0
    /// How much later everything is than the medium says, because its time was stretched: our clock is another.
    private var shift = MediaTime.zero
    private var sequence: Int64 = 0
    /// That there is sound which is not heard was told.
    private var isSoundTold = false
    /// The first frame's format, before or after it was queued.
    private(set) var format: VideoFormat?

    /// - Parameters:
    ///   - channels: of the sound that the queue takes; nil leaves sound out.
    ///   - comesBack: the end of this input is not the end of the source.
    init(
        reader: MediaReader, queue: SourceQueue, playback: Playback, importer: FrameImporter, channels: Int?,
        comesBack: Bool, report: @escaping @Sendable (NodeEvent) -> Void
    ) {
        self.comesBack = comesBack
        self.reader = reader
        self.queue = queue
        self.playback = playback
        self.importer = importer
        self.report = report
        follows = reader.address.isLive && comesBack
        converter = channels.map {
            SoundConverter(
                channels: $0, speed: playback.speed.perSecond, stretches: reader.address.isLive && comesBack)
        }
        video = reader.video.map { Track(decoder: $0) }
        sound = channels == nil ? nil : reader.sound.map { Track(decoder: $0) }
        origin = reader.address.isLive ? .zero : reader.startTime + playback.start
    }

    /// Goes to where playing begins, when that is not the beginning.
    /// - Throws: `PatchError` when the input cannot be entered there.
    func seekToStart() throws {
        guard playback.start > .zero else { return }
        if let duration = reader.duration, playback.start >= duration {
            throw PatchError(
                .usage, "start=\(playback.start.seconds) lies beyond the end of '\(reader.address.shown)'",
                remedy: "it is \(duration.seconds) s long")
        }
        guard reader.seek(to: origin) else {
            throw PatchError(
                .media, "'\(reader.address.shown)' can only be played from its beginning",
                remedy: "leave start= out")
        }
    }

    /// Makes one frame or one stretch of sound of what is wanted, or reads one packet.
    func step(_ demand: SourceQueue.Demand) -> Progress {
        var starving = false
        if demand.picture, video != nil {
            switch advancePicture() {
            case .made: return .more
            case .starving: starving = true
            case .over: break
            }
        }
        if demand.sound, sound != nil {
            switch advanceSound() {
            case .made: return .more
            case .starving: starving = true
            case .over: break
            }
        }
        if starving { return readPacket() }
        return video?.isOver ?? true && sound?.isOver ?? true ? .ended : .more
    }

    private enum Advance { case made, starving, over }

    // MARK: Picture

    private func advancePicture() -> Advance {
        while var track = video, !track.isOver {
            defer { video = track }
            switch track.decoder.receive() {
            case .frame:
                if pushPicture(&track) { return .made }
            case .corrupt:
                queue.countCorrupt()
            case .drained:
                guard resume(&track) else {
                    if !comesBack { queue.endPicture() }
                    return .over
                }
            case .needsPacket:
                guard feed(&track) else { return .starving }
            }
        }
        return .over
    }

    /// - Returns: false when the frame lies before the start or cannot be used.
    private func pushPicture(_ track: inout Track) -> Bool {
        let picture = track.decoder.frame
        let time = track.decoder.frameTime
        let duration = track.decoder.frameDuration
        if picture.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0 { queue.countCorrupt() }
        // Half a millisecond: `start` and the file's units are rounded differently.
        if let time, !track.hasBegun, playback.start > .zero, (time - origin).nanoseconds < -500_000 { return false }
        track.hasBegun = true
        var upright = reader.orientation
        if let matrix = patch_frame_display_matrix(picture) { upright = Orientation(displayMatrix: matrix) }
        track.made += 1
        guard let frame = importer.frame(from: picture, orientation: upright.then(playback.orientation)) else {
            return false
        }
        let length = duration ?? (reader.rate.map(\.frameDuration) ?? .zero)
        let pts = time.map { shifted(sinceOrigin($0) + track.offset) }
        frame.pts = pts ?? .zero
        frame.duration = scaled(length)
        frame.sequence = sequence
        sequence += 1
        frame.captureTime = reader.address.isLive ? monotonicNanoseconds() : 0
        if format == nil { format = frame.format }
        queue.push(frame, pts: pts, duration: frame.duration)
        if reader.isCover {
            track.isOver = true
            queue.endPicture()
        }
        return true
    }

    // MARK: Sound

    private func advanceSound() -> Advance {
        while var track = sound, !track.isOver {
            defer { sound = track }
            switch track.decoder.receive() {
            case .frame:
                if pushSound(&track) { return .made }
            case .corrupt:
                queue.countCorrupt()
            case .drained:
                pushSoundTail()
                guard resume(&track) else {
                    if !comesBack { queue.endSound() }
                    return .over
                }
            case .needsPacket:
                guard feed(&track) else { return .starving }
            }
        }
        return .over
    }

    private func pushSound(_ track: inout Track) -> Bool {
        guard let converter else { return false }
        let stretch = follows ? queue.stretch : (time: 0, sound: 0)
        let time = converter.stretch(by: stretch.time, and: stretch.sound)
        guard let (count, early) = converter.convert(track.decoder.frame) else {
            queue.countCorrupt()
            return false
        }
        track.made += 1
        defer { if follows { shift = shift + MediaTime(seconds: time * converter.seconds(of: track.decoder.frame)) } }
        guard count > 0 else { return false }
        // What comes out first was still inside: it belongs to a little earlier.
        // A microphone's stamps say when a packet was fetched: its samples just follow each other.
        let pts =
            reader.address.kind == .microphone
            ? nil
            : track.decoder.frameTime.map { shifted(sinceOrigin($0) + track.offset - MediaTime(seconds: early)) }
        // Before the start there is nothing to hear; the queue would take it for a jump backwards.
        if let pts, !track.hasBegun, !reader.address.isLive,
            pts + MediaTime(value: Int64(count), timescale: 48_000) <= track.offset
        {
            return false
        }
        let beginsRound = !track.hasBegun && track.offset != .zero
        track.hasBegun = true
        queue.pushSound(pts: pts, count: count, beginsRound: beginsRound) { converter.channel($0) }
        return true
    }

    private func pushSoundTail() {
        guard let converter else { return }
        let count = converter.drain()
        if count > 0 { queue.pushSound(pts: nil, count: count) { converter.channel($0) } }
        converter.reset()
    }

    // MARK: Packets

    /// Gives the decoder its next packet. False when there is none yet.
    private func feed(_ track: inout Track) -> Bool {
        switch track.backlog.pop() {
        case nil: return false
        case .packet(let packet)?:
            if !track.decoder.send(packet) { queue.countCorrupt() }
            TrackBacklog.free(packet)
        case let entry?:
            track.pending = entry
            track.decoder.drain()
        }
        return true
    }

    /// After the decoder gave everything out: on to the next round, or over.
    private func resume(_ track: inout Track) -> Bool {
        track.decoder.flush()
        defer { track.pending = nil }
        if case .rewind(let offset)? = track.pending, track.made > 0 {
            track.offset = offset
            track.made = 0
            track.hasBegun = false
            return true
        }
        track.isOver = true
        return false
    }

    private func readPacket() -> Progress {
        switch reader.read() {
        case .nothing:
            // Devices that do not wait for their next frame.
            return queue.sleep(nanoseconds: 1_000_000) ? .more : .ended
        case .corrupt:
            queue.countCorrupt()
            corruptInARow += 1
            guard corruptInARow < 1000 else {
                finish()
                return .failed(
                    PatchError(
                        .media, "'\(reader.address.shown)' has become unreadable",
                        remedy: "check the file or the sender"))
            }
        case .failed(let error):
            finish()
            return .failed(error)
        case .ended:
            if !(playback.loops && rewind()) { finish() }
        case .packet(let packet):
            corruptInARow = 0
            if let error = unheardSound(packet) {
                TrackBacklog.free(packet)
                finish()
                return .failed(error)
            }
            keep(packet)
        }
        return .more
    }

    /// Sound that begins only after a stream was opened: where the graph expects sound, a new connection finds it.
    /// - Returns: why the connection is to end.
    private func unheardSound(_ packet: UnsafeMutablePointer<AVPacket>) -> PatchError? {
        guard follows, !isSoundTold, reader.beginsSound(packet) else { return nil }
        isSoundTold = true
        if converter != nil {
            return PatchError(
                .network, "'\(reader.address.shown)' has sound now", remedy: "it is connected again, to be heard")
        }
        report(
            .problem(
                PatchError(
                    .media, "'\(reader.address.shown)' has sound now, and had none when it was opened: it is not heard",
                    remedy: "write required = false, which expects sound")))
        return nil
    }

    private func keep(_ packet: UnsafeMutablePointer<AVPacket>) {
        if var track = video, packet.pointee.stream_index == track.decoder.index, !track.isOver {
            note(packet, of: &track, nominal: reader.rate?.frameDuration)
            track.backlog.append(.packet(packet))
            video = track
            if track.backlog.bytes > Self.backlogLimit { giveUpSound(until: packet, of: track.decoder) }
        } else if var track = sound, packet.pointee.stream_index == track.decoder.index, !track.isOver {
            note(packet, of: &track, nominal: nil)
            track.backlog.append(.packet(packet))
            sound = track
        } else {
            TrackBacklog.free(packet)
        }
    }

    /// Remembers where the latest packet of a track ends. The queue takes jumps out, so that what counts is the time since the
    /// last one.
    private func note(_ packet: UnsafeMutablePointer<AVPacket>, of track: inout Track, nominal: MediaTime?) {
        let base = track.decoder.timeBase
        guard packet.pointee.flags & AV_PKT_FLAG_DISCARD == 0, let time = MediaTime(packet.pointee.pts, base: base)
        else { return }
        let length = packet.pointee.duration > 0 ? MediaTime(packet.pointee.duration, base: base) : nominal
        let end = sinceOrigin(time) + scaled(length ?? .zero)
        let order = MediaTime(packet.pointee.dts, base: base) ?? time
        let isJump = track.lastPacket.map { (order - $0).nanoseconds < -Self.disorder } ?? true
        if isJump || end > track.end { track.end = end }
        track.lastPacket = order
    }

    /// The sound lies so far behind the picture in the file that holding the picture back would fill the memory.
    private func giveUpSound(until packet: UnsafeMutablePointer<AVPacket>, of decoder: TrackDecoder) {
        guard let track = video, let time = MediaTime(packet.pointee.pts, base: decoder.timeBase) else { return }
        queue.noSound(before: sinceOrigin(time) + track.offset)
    }

    private func finish() {
        video?.backlog.append(.end)
        sound?.backlog.append(.end)
    }

    /// Starts the file again. False when there is nothing to play again.
    private func rewind() -> Bool {
        // The picture's length counts, so that its rhythm is unbroken; a much longer sound is heard to its end.
        var length = video?.end ?? .zero
        if let end = sound?.end, end - length > MediaTime(value: 1, timescale: 1) { length = end }
        guard length != .zero else { return false }
        guard reader.seek(to: origin) else {
            report(
                .problem(
                    PatchError(
                        .media, "'\(reader.address.shown)' cannot be played again from its beginning",
                        remedy: "use a file that can be seeked, or leave loop= out")))
            return false
        }
        nextOffset = nextOffset + length
        video?.backlog.append(.rewind(nextOffset))
        sound?.backlog.append(.rewind(nextOffset))
        return true
    }

    /// The file's time to playing time, in the file's own units: the queue allows for their rounding.
    private func sinceOrigin(_ time: MediaTime) -> MediaTime {
        let start = origin.converted(to: time.timescale)
        return scaled(MediaTime(value: time.value &- start, timescale: time.timescale))
    }

    /// In the time's own units.
    private func shifted(_ time: MediaTime) -> MediaTime {
        guard shift != .zero else { return time }
        return MediaTime(value: time.value &+ shift.converted(to: time.timescale), timescale: time.timescale)
    }

    /// Media time to playing time.
    private func scaled(_ time: MediaTime) -> MediaTime {
        let speed = playback.speed
        if speed.numerator == speed.denominator { return time }
        let (value, overflow) = time.value.multipliedReportingOverflow(by: speed.denominator)
        let (scale, overflowed) = time.timescale.multipliedReportingOverflow(by: speed.numerator)
        guard !overflow, !overflowed else { return MediaTime(seconds: time.seconds / speed.perSecond) }
        return MediaTime(value: value, timescale: scale)
    }

    private static let backlogLimit = 256 << 20
    /// Packets may be out of order by 0.2 s.
    private static let disorder: Int64 = 200_000_000
}
