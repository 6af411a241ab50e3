import Glibc
import PatchGraph
import PatchMedia
import Synchronization

/// Writes a recorder's packets to its file, or to one numbered part after another, on a thread of its own, so that a slow disk
/// holds up neither the encoder nor those who share it.
///
/// Thread-safety: all members may be called from any thread.
final class RecordingWriter: Sendable {
    /// When a part is over; the next one begins with the keyframe after that.
    struct Split: Sendable {
        /// Seconds of stream.
        var seconds: Double?
        var bytes: Int64?
    }

    /// A file that is being written; begins at its own time 0.
    private struct Part {
        let muxer: MediaMuxer
        let path: String
        /// Presentation time at which the part begins; packets before it belong to the part before.
        let begin: Int64
        var bytes: Int64 = 0
    }

    private struct Progress {
        var opened: Result<Void, PatchError>?
        var failure: PatchError?
        var isDone = false
    }

    private let path: String
    private let container: Container
    private let streams: [StreamParameters]
    private let split: Split?
    private let environment: NodeEnvironment
    private let interruption = InterruptDeadline()
    private let progress = Monitor(Progress())
    private let hasVideo: Bool
    let queue: PacketQueue
    let meter = OutputMeter()

    init(
        _ path: String, _ container: Container, streams: [StreamParameters], split: Split?, queue: PacketQueue,
        environment: NodeEnvironment
    ) {
        self.path = path
        self.container = container
        self.streams = streams
        self.split = split
        self.queue = queue
        self.environment = environment
        hasVideo = streams.contains(where: \.isVideo)
    }

    /// Opens the file.
    /// - Throws: `PatchError.output` when it cannot be written.
    func start() throws {
        _ = try PosixThread(name: "record") { withoutWriteSignals { self.run() } }
        try progress.wait { $0.opened }?.get()
    }

    /// Why writing ended before its time; nil while it goes well.
    var failure: PatchError? { progress.withLock { $0.failure } }

    /// Writes what waits and closes the file. Blocks until that is done.
    /// - Throws: `PatchError` when not everything could be written.
    func finish() throws {
        queue.finish()
        if let failure = progress.wait({ $0.isDone ? .some($0.failure) : nil }) ?? nil { throw failure }
    }

    // MARK: The writer's thread

    private func run() {
        var isOpen = false
        do {
            var number = split == nil ? 0 : firstFreeNumber()
            let first = try open(number, from: 0)
            isOpen = true
            progress.notify { $0.opened = .success(()) }
            try write(first, &number)
            progress.notify { $0.isDone = true }
        } catch {
            let failure = error as? PatchError ?? PatchError(.output, "cannot write to \(path)", cause: "\(error)")
            queue.cancel()
            progress.notify {
                if isOpen { $0.failure = failure } else { $0.opened = .failure(failure) }
                $0.isDone = true
            }
        }
    }

    private func write(_ first: consuming Part, _ number: inout Int) throws {
        var part = first
        /// The part before, which still gets its last sound.
        var former: Part?
        var isFirst = true
        loop: while true {
            switch queue.pop() {
            case .packet(let packet):
                if isFirst, packet.presentation > 0 {
                    // The recorder joined an encoder at work: its file begins here.
                    part = Part(muxer: part.muxer, path: part.path, begin: packet.presentation)
                    part.muxer.begin(at: packet.presentation)
                }
                if !isFirst, isOver(part, at: packet) {
                    try former?.muxer.finish()
                    former = part
                    number += 1
                    part = try open(number, from: packet.presentation)
                    environment.report(.notice("goes on in \(part.path)"))
                }
                isFirst = false
                if !packet.isVideo, packet.presentation < part.begin, hasVideo, part.begin > 0 {
                    try former?.muxer.write(packet)
                } else {
                    if !packet.isVideo || streams.count == 1 {
                        try former?.muxer.finish()
                        former = nil
                    }
                    try part.muxer.write(packet)
                    part.bytes += Int64(packet.byteCount)
                }
                meter.accepted(packet)
            case .over: break loop
            case .cancelled: return
            case .nothing: break
            }
        }
        try former?.muxer.finish()
        try part.muxer.finish()
    }

    private func isOver(_ part: Part, at packet: EncodedPacket) -> Bool {
        guard let split, packet.isKeyframe || !hasVideo else { return false }
        if let bytes = split.bytes, part.bytes >= bytes { return true }
        // A millisecond for rounding: a keyframe that is due at the limit begins the next part.
        return split.seconds.map { packet.presentation - part.begin >= Int64($0 * 1e9) - 1_000_000 } ?? false
    }

    private func open(_ number: Int, from begin: Int64) throws -> Part {
        let name = split == nil ? path : RecordingWriter.path(path, part: number)
        let target = MuxTarget(muxer: container.muxer, url: "file:" + name, shown: name, options: container.options)
        let muxer = try MediaMuxer(target, streams: streams, interrupt: interruption)
        muxer.begin(at: begin)
        return Part(muxer: muxer, path: name, begin: begin)
    }

    /// `show.mkv` and 7 → `show-007.mkv`.
    static func path(_ path: String, part: Int) -> String {
        let dot = path.lastIndex(of: ".") ?? path.endIndex
        let digits = "\(part)"
        let number = String(repeating: "0", count: max(0, 3 - digits.count)) + digits
        return path[..<dot] + "-" + number + path[dot...]
    }

    /// Parts of an earlier run are never written over.
    private func firstFreeNumber() -> Int {
        var number = 1
        while access(RecordingWriter.path(path, part: number), F_OK) == 0 { number += 1 }
        return number
    }
}
