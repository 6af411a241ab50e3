import Glibc
import Patchbay
import Synchronization

/// Where the program writes: results to standard output, everything about the run to standard error.
///
/// Thread-safety: all members may be called from any thread; a text is never torn by another one.
final class Console: Sendable {
    /// Standard error is a terminal that people look at.
    let isInteractive: Bool
    private let hasColors: Bool
    /// The line that is redrawn in place, without a line end; empty when none is shown.
    private let statusLine = Mutex("")

    init() {
        let terminal = getenv("TERM").map { String(cString: $0) } ?? ""
        isInteractive = isatty(2) == 1 && terminal != "dumb"
        hasColors = isInteractive && getenv("NO_COLOR") == nil
    }

    /// A result, with a line end, to standard output.
    func print(_ text: String) {
        statusLine.withLock { status in
            hide(status)
            write(text + "\n", to: 1)
            show(status)
        }
    }

    /// One line about the run, to standard error, above the status line.
    func note(_ text: String) { line(text) }
    func warn(_ text: String) { line(colored("warning: ", "33") + text) }
    func fail(_ text: String) { line(colored("error: ", "31") + text) }
    func fail(_ error: PatchError) { fail(Self.describe(error)) }

    /// The line at the bottom that is redrawn in place. Does nothing unless somebody looks.
    func status(_ text: String) {
        guard isInteractive else { return }
        statusLine.withLock { status in
            hide(status)
            status = Self.fitted(text, columns: columns - 1)
            show(status)
        }
    }

    /// Leaves the status line as it is and goes on below it.
    func endStatus() {
        statusLine.withLock { status in
            if !status.isEmpty { write("\n", to: 2) }
            status = ""
        }
    }

    /// `file:line: message (cause)`, and what to do on a line of its own.
    static func describe(_ error: PatchError) -> String {
        var short = error
        short.remedy = ""
        return error.remedy.isEmpty ? short.description : "\(short.description)\n       \(error.remedy)"
    }

    /// Columns of the terminal; 80 when unknown.
    var columns: Int {
        var size = winsize()
        guard ioctl(2, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    private func line(_ text: String) {
        statusLine.withLock { status in
            hide(status)
            write(text + "\n", to: 2)
            show(status)
        }
    }

    private func hide(_ status: String) { if !status.isEmpty { write("\r\u{1b}[K", to: 2) } }
    private func show(_ status: String) { if !status.isEmpty { write(status, to: 2) } }

    private func colored(_ text: String, _ code: String) -> String {
        hasColors ? "\u{1b}[1;\(code)m\(text)\u{1b}[0m" : text
    }

    private static func fitted(_ text: String, columns: Int) -> String {
        text.count <= columns ? text : text.prefix(max(0, columns - 1)) + "…"
    }

    private func write(_ text: String, to descriptor: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            // A closed pipe: whoever reads has seen enough, and the run itself goes on.
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }
}
