import Glibc
import PatchMedia

/// An X server without a monitor (Xvfb), for windows and screen capture.
///
/// Thread-safety: all members may be called from any thread.
public final class VirtualScreen: Sendable {
    /// ":N", for DISPLAY.
    public let display: String
    public let width: Int
    public let height: Int
    private let program: Program

    /// - Throws: `TestProblem` when Xvfb is missing or does not come up.
    public init(width: Int = 1280, height: Int = 720) throws {
        self.width = width
        self.height = height
        // The server chooses a free display itself and prints its number once it is ready.
        program = try Program(
            "Xvfb", ["-displayfd", "1", "-screen", "0", "\(width)x\(height)x24", "-nolisten", "tcp", "-noreset"])
        try program.waitForOutput("\n", within: 20)
        let digits = String(decoding: program.outputSoFar.output, as: UTF8.self).filter(\.isNumber)
        guard !digits.isEmpty else { throw TestProblem("Xvfb printed no display number") }
        display = ":" + digits
    }

    /// Fills the whole screen with one colour, such as "#ff8000".
    public func paint(_ color: String) throws {
        try Program.run("xsetroot", ["-solid", color], timeout: 10, environment: environment)
    }

    /// The screen's pixels now, R G B in turn, `width * height * 3` bytes.
    public func screenshot() throws -> [UInt8] {
        let outcome = try Program.run(
            "import", ["-silent", "-window", "root", "-depth", "8", "rgb:-"], timeout: 30, environment: environment)
        guard outcome.output.count == width * height * 3 else {
            throw TestProblem("the screenshot has \(outcome.output.count) bytes, not \(width)x\(height)x3")
        }
        return outcome.output
    }

    /// The X id of the window whose title contains `title`; waits for it.
    public func window(titled title: String, within timeout: Double = 20) throws -> String {
        let outcome = try Program.run(
            "xdotool", ["search", "--sync", "--onlyvisible", "--name", title], timeout: timeout,
            environment: environment)
        guard let first = outcome.text.split(separator: "\n").first else {
            throw TestProblem("no window titled \(title)")
        }
        return String(first)
    }

    /// Types a key, by its X name, into the window with this id.
    public func press(_ key: String, in window: String) throws {
        // Without a window manager nobody gives a window the focus, so the pointer does.
        try Program.run(
            "xdotool", ["mousemove", "--window", window, "10", "10", "windowfocus", "--sync", window, "key", key],
            timeout: 10, environment: environment)
    }

    /// Variables for a program that shall use this screen.
    public var environment: [String: String?] { ["DISPLAY": display, "SDL_VIDEODRIVER": "x11"] }

    deinit {
        program.signal(SIGTERM)
        _ = try? program.waitForEnd(within: 5)
    }
}
