import Glibc
import PatchMedia
import Synchronization

/// One of several forms of a stream that a master playlist offers.
///
/// A value.
struct Rendition: Sendable {
    /// Its own playlist.
    var path: String
    var width: Int
    var height: Int
    /// Frames a second.
    var rate: Double
    /// Bits a second, sound included.
    var bitrate: Int
    /// The streams' codecs as RFC 6381 writes them; empty when one is not known.
    var codecs: [String]

    /// - Throws: `PatchError.usage` when the playlist is not in the folder of `master` or below it.
    static func check(_ path: String, in master: String) throws {
        guard path.hasPrefix(folder(of: master)), path != master, master.hasSuffix(".m3u8") else {
            throw PatchError(
                .usage, "'\(master)' cannot list '\(path)'",
                remedy: "name a .m3u8 file in the same folder, or in one above it")
        }
    }

    static func folder(of path: String) -> Substring { path.lastIndex(of: "/").map { path[...$0] } ?? "" }

    /// RFC 8216, 4.3.4.2. A tenth more than the bitrate covers the container.
    func lines(in master: String) -> String {
        let milli = Int((rate * 1000).rounded())
        let digits = "\(milli % 1000)"
        let fraction = String(repeating: "0", count: 3 - digits.count) + digits
        let codecs = codecs.isEmpty ? "" : ",CODECS=\"\(codecs.joined(separator: ","))\""
        return """
            #EXT-X-STREAM-INF:BANDWIDTH=\(bitrate * 11 / 10),AVERAGE-BANDWIDTH=\(bitrate),RESOLUTION=\(width)x\(height),\
            FRAME-RATE=\(milli / 1000).\(fraction)\(codecs)
            \(path.dropFirst(Rendition.folder(of: master).count))

            """
    }
}

/// The master playlists that an engine's publishers write together.
///
/// Thread-safety: all members may be called from any thread.
final class MasterPlaylists: Sendable {
    private let renditions = Mutex<[String: [Rendition]]>([:])

    /// Lists a rendition, and writes the playlist, whole at any moment. One of the same path is replaced.
    /// - Throws: `PatchError.output` when the file cannot be written.
    func add(_ rendition: Rendition, to master: String) throws {
        try renditions.withLock { renditions in
            var listed = (renditions[master] ?? []).filter { $0.path != rendition.path }
            listed.append(rendition)
            listed.sort { $0.bitrate > $1.bitrate }
            renditions[master] = listed
            let text = "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-INDEPENDENT-SEGMENTS\n"
            try write(text + listed.map { $0.lines(in: master) }.joined(), to: master)
        }
    }

    private func write(_ text: String, to path: String) throws {
        let temporary = path + ".tmp"
        guard let file = fopen(temporary, "w") else { throw failure(path) }
        let count = text.utf8.count
        let isWritten = fwrite(text, 1, count, file) == count
        guard fclose(file) == 0, isWritten, rename(temporary, path) == 0 else { throw failure(path) }
    }

    private func failure(_ path: String) -> PatchError {
        PatchError(
            .output, "cannot write to \(path)", remedy: "choose a place that may be written",
            cause: String(cString: strerror(errno)))
    }
}
