import Glibc

/// Files that tests read: real clips that `scripts/setup` fetched, and the package's own folders.
public enum Fixtures {
    /// Real media (scripts/media.txt); the comment gives what ffprobe says of it.
    public enum Clip: String, Sendable, CaseIterable {
        /// H.264 1280×720, 25 frames/s, 132 frames; AAC 48 kHz 5.1.
        case bigBuckBunny = "bigbuckbunny.mp4"
        /// H.264 640×272, 25 frames/s, 250 frames, no sound.
        case bikes = "bikes.mp4"
        /// H.264 176×144, 30000/1001 frames/s, 120 frames, no sound: a talking, moving person.
        case carphone = "carphone_pristine.mp4"
        /// MS-MPEG-4 v3 768×576, 10 frames/s, 795 frames, no sound: pedestrians.
        case pedestrians = "vtest.avi"
        /// PNG 512×512, RGB, a portrait.
        case astronaut = "astronaut.png"
        /// JPEG 512×600, a portrait.
        case graceHopper = "grace_hopper.jpg"
        /// 48 kHz mono voices, about 1.4 s each.
        case frontCenter = "Front_Center.wav"
        case frontLeft = "Front_Left.wav"
        case frontRight = "Front_Right.wav"
        case rearCenter = "Rear_Center.wav"
    }

    /// Absolute path of the folder with Package.swift.
    public static let packageRoot: String = {
        var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        parts.removeLast(3)
        return parts.joined(separator: "/")
    }()

    /// Where the clips are: `PATCHBAY_MEDIA`, else .cache/media in the package.
    public static let mediaDirectory: String =
        getenv("PATCHBAY_MEDIA").map { String(cString: $0) } ?? packageRoot + "/.cache/media"

    /// Absolute path of a clip.
    /// - Throws: `TestProblem` that says how to get it; a test never passes by skipping.
    public static func path(_ clip: Clip) throws -> String {
        let path = mediaDirectory + "/" + clip.rawValue
        guard access(path, R_OK) == 0 else {
            throw TestProblem("\(path) is missing: run scripts/setup (it fetches the clips of scripts/media.txt)")
        }
        return path
    }

    /// Absolute path of something in the package, such as "graphs/beautify.lua".
    /// - Throws: `TestProblem` when it does not exist.
    public static func package(_ relative: String) throws -> String {
        let path = packageRoot + "/" + relative
        guard access(path, F_OK) == 0 else { throw TestProblem("\(relative) is missing in the package") }
        return path
    }
}
