import Foundation
import PatchTesting
import Testing

/// A media playlist as RFC 8216 reads it, checked.
struct MediaPlaylist {
    struct Segment: Hashable {
        var name: String
        var duration: Double
        var isDiscontinuous: Bool
    }
    var target = 0
    var sequence = 0
    var isFinished = false
    var header: String?
    var segments: [Segment] = []
    /// The number of the first segment after the last one.
    var next: Int { sequence + segments.count }

    /// - Throws: `TestProblem` that says what is not as the RFC has it.
    init(_ text: String) throws {
        guard text.hasPrefix("#EXTM3U\n"), text.hasSuffix("\n") else { throw TestProblem("no whole list:\n\(text)") }
        var duration: Double?
        var isDiscontinuous = false
        for line in text.split(separator: "\n").dropFirst() {
            func value(_ tag: String) -> String? {
                line.hasPrefix(tag + ":") ? String(line.dropFirst(tag.count + 1)) : nil
            }
            if let number = value("#EXT-X-TARGETDURATION").flatMap({ Int($0) }) {
                target = number
            } else if let number = value("#EXT-X-MEDIA-SEQUENCE").flatMap({ Int($0) }) {
                sequence = number
            } else if let name = value("#EXT-X-MAP").flatMap({ $0.split(separator: "\"").last }) {
                header = String(name)
            } else if let seconds = value("#EXTINF").flatMap({ Double($0.dropLast()) }) {
                duration = seconds
            } else if line == "#EXT-X-DISCONTINUITY" {
                isDiscontinuous = true
            } else if line == "#EXT-X-ENDLIST" {
                isFinished = true
            } else if !line.hasPrefix("#") {
                guard let seconds = duration else { throw TestProblem("\(line) has no duration:\n\(text)") }
                segments.append(
                    Segment(name: String(line), duration: seconds, isDiscontinuous: isDiscontinuous))
                (duration, isDiscontinuous) = (nil, false)
            } else if value("#EXT-X-VERSION") == nil, line != "#EXT-X-INDEPENDENT-SEGMENTS",
                value("#EXT-X-PLAYLIST-TYPE") == nil
            {
                throw TestProblem("what is \(line)?\n\(text)")
            }
        }
        // 4.3.3.1: rounded to the nearest whole number, no duration is greater.
        guard target >= 1, segments.allSatisfy({ Int($0.duration.rounded()) <= target }) else {
            throw TestProblem("a wrong target duration:\n\(text)")
        }
        // 6.2.2: nothing is taken off a list that gets shorter than three target durations.
        let length = segments.reduce(0) { $0 + $1.duration }
        guard sequence == 0 || isFinished || length >= 3 * Double(target) - 0.01 else {
            throw TestProblem("too short a list:\n\(text)")
        }
    }
}

/// Follows a playlist on a web server as a player does, fetching each segment once, as soon as it is listed.
struct PlaylistWatch {
    /// Each version of the playlist, in order.
    let lists: [MediaPlaylist]
    private let folder: TemporaryDirectory

    /// - Throws: `TestProblem` when something that is listed cannot be fetched, or is not as it should be.
    init(_ url: String, seconds: Double) throws {
        folder = try TemporaryDirectory()
        try folder.write("watch.py", Self.script)
        try Program.run("python3", [folder.file("watch.py"), url, "\(seconds)", folder.path], timeout: seconds + 30)
        var lists: [MediaPlaylist] = []
        while let text = try? folder.file("list-\(lists.count)").contentsOfFile() {
            lists.append(try MediaPlaylist(String(decoding: text, as: UTF8.self)))
        }
        self.lists = lists
    }

    /// A file with which the fetched segment can be read by itself.
    func file(_ segment: MediaPlaylist.Segment) throws -> String {
        guard let header = lists.last?.header else { return folder.file(segment.name) }
        let file = folder.file("whole.mp4")
        let bytes = try folder.file(header).contentsOfFile() + folder.file(segment.name).contentsOfFile()
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        return file
    }

    /// Numbers go up by one, what they stand for never changes, and neither does the target duration.
    func expectConsistency(sourceLocation: Testing.SourceLocation = #_sourceLocation) {
        var known: [Int: MediaPlaylist.Segment] = [:]
        for (before, after) in zip(lists, lists.dropFirst()) {
            #expect(
                after.sequence >= before.sequence && after.next >= before.next && after.target == before.target,
                sourceLocation: sourceLocation)
        }
        for list in lists {
            for (index, segment) in list.segments.enumerated() {
                #expect(
                    known[list.sequence + index, default: segment].name == segment.name, sourceLocation: sourceLocation)
                known[list.sequence + index] = segment
            }
        }
    }

    /// Segments that were listed at any time, in order.
    var segments: [MediaPlaylist.Segment] {
        var seen: Set<String> = []
        return lists.flatMap(\.segments).filter { seen.insert($0.name).inserted }
    }

    private static let script = """
        import os, re, sys, time, urllib.request as web
        url, seconds, folder = sys.argv[1], float(sys.argv[2]), sys.argv[3]
        base = url.rsplit("/", 1)[0] + "/"
        def get(name):
            with web.urlopen(base + name, timeout=5) as answer: return answer.read()
        have, count, last = set(), 0, None
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            text = get(url.rsplit("/", 1)[1])
            if text != last:
                last = text
                with open(os.path.join(folder, f"list-{count}"), "wb") as file: file.write(text)
                count += 1
            lines = text.decode().splitlines()
            names = re.findall('EXT-X-MAP:URI="([^"]*)"', text.decode()) + [l for l in lines if not l.startswith("#")]
            for name in names:
                if name not in have:
                    have.add(name)
                    with open(os.path.join(folder, name), "wb") as file: file.write(get(name))
            time.sleep(0.02)
        """
}
