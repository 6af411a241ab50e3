internal import CFFmpeg
import PatchMedia

/// Compressed packets of one track, waiting for its decoder.
///
/// Not thread-safe: it belongs to the source's thread.
final class TrackBacklog {
    enum Entry {
        /// Owned by the queue until `pop`, then by the caller (av_packet_free).
        case packet(UnsafeMutablePointer<AVPacket>)
        /// The file starts again; what follows is this much later.
        case rewind(MediaTime)
        case end
    }

    private var entries: [Entry?] = Array(repeating: nil, count: 64)
    private var head = 0
    private(set) var count = 0
    private(set) var bytes = 0

    func append(_ entry: Entry) {
        if count == entries.count {
            entries = (0..<2 * count).map { $0 < count ? entries[(head + $0) % count] : nil }
            head = 0
        }
        if case .packet(let packet) = entry { bytes += Int(packet.pointee.size) }
        entries[(head + count) % entries.count] = entry
        count += 1
    }

    func pop() -> Entry? {
        guard count > 0 else { return nil }
        let entry = entries[head]
        entries[head] = nil
        head = (head + 1) % entries.count
        count -= 1
        if case .packet(let packet)? = entry { bytes -= Int(packet.pointee.size) }
        return entry
    }

    func removeAll() {
        while let entry = pop() {
            if case .packet(let packet) = entry { Self.free(packet) }
        }
    }

    static func free(_ packet: UnsafeMutablePointer<AVPacket>) {
        var packet: UnsafeMutablePointer<AVPacket>? = packet
        av_packet_free(&packet)
    }

    deinit { removeAll() }
}
