internal import CFFmpeg
import Glibc
import PatchMedia
import Synchronization

/// Negative return codes of FFmpeg's functions.
enum AVError {
    static let eof = patch_averror_eof()
    static let again = patch_averror(EAGAIN)
    /// The interrupt callback said stop.
    static let exit = patch_averror_exit()
    static let invalidData = patch_averror_invaliddata()

    /// FFmpeg's own words for a code (av_strerror).
    static func text(_ code: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let base = buffer.baseAddress else { return "error \(code)" }
            base.initialize(repeating: 0, count: 256)
            av_strerror(code, base, 256)
            return String(cString: base)
        }
    }

    /// Whether a code is this errno.
    static func isErrno(_ code: Int32, _ number: Int32) -> Bool { code == patch_averror(number) }
}

/// FFmpeg's log: never on stderr; the last error line of each thread is kept, as a cause for a `PatchError`.
///
/// Thread-safety: all members may be called from any thread.
enum FFmpegLog {
    fileprivate struct Line {
        var thread: pthread_t
        /// The first line since `forget`.
        var first: String
        var text: String
    }
    /// The latest lines, at most `capacity`, of different threads.
    fileprivate static let lines = Mutex<[Line]>([])
    fileprivate static let capacity = 16
    private static let installed: Bool = {
        av_log_set_level(AV_LOG_ERROR)
        av_log_set_callback(keepLine)
        return true
    }()

    /// Takes the log over. Call it before the first other call into FFmpeg; later calls do nothing.
    static func silence() { _ = installed }

    /// Forgets what this thread logged, before a call whose words are of interest.
    static func forget() {
        let thread = pthread_self()
        lines.withLock { lines in lines.removeAll { pthread_equal($0.thread, thread) != 0 } }
    }

    /// The first error line that this thread logged since `forget`: where several layers complain, the reason.
    ///
    /// It may hold the URL, as `lastLine` may.
    static var firstLine: String? {
        let thread = pthread_self()
        return lines.withLock { lines in lines.last { pthread_equal($0.thread, thread) != 0 }?.first }
    }

    /// The last error line that this thread logged since `forget`.
    ///
    /// It may hold the URL that was opened: not for messages when that URL hides a secret.
    static var lastLine: String? {
        let thread = pthread_self()
        return lines.withLock { lines in lines.last { pthread_equal($0.thread, thread) != 0 }?.text }
    }
}

/// The log callback (av_log_set_callback).
private func keepLine(
    context: UnsafeMutableRawPointer?, level: Int32, format: UnsafePointer<CChar>?, arguments: CVaListPointer?
) {
    guard level <= AV_LOG_ERROR, let format, let arguments else { return }
    let text: String = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
        guard let base = buffer.baseAddress else { return "" }
        base.initialize(repeating: 0, count: 512)
        vsnprintf(base, 512, format, arguments)
        return String(cString: base)
    }
    var trimmed = Substring(text)
    while let last = trimmed.last, last.isNewline || last == " " || last == "." { trimmed.removeLast() }
    guard !trimmed.isEmpty else { return }
    let thread = pthread_self()
    FFmpegLog.lines.withLock { lines in
        let first = lines.last { pthread_equal($0.thread, thread) != 0 }?.first
        lines.removeAll { pthread_equal($0.thread, thread) != 0 }
        if lines.count >= FFmpegLog.capacity { lines.removeFirst() }
        lines.append(.init(thread: thread, first: first ?? String(trimmed), text: String(trimmed)))
    }
}

/// Ends blocking calls of libavformat (AVIOInterruptCB) after a deadline or when told to.
///
/// The object must outlive every context that was opened with `callback`.
/// Thread-safety: all members may be called from any thread.
final class InterruptDeadline: Sendable {
    private let deadline = Atomic<Int64>(Int64.max)
    private let cancelled = Atomic(false)
    private let expired = Atomic(false)

    /// The next blocking calls together may take this long, in nanoseconds; nil is for ever.
    func allow(nanoseconds: Int64?) {
        expired.store(false, ordering: .relaxed)
        deadline.store(nanoseconds.map { monotonicNanoseconds() + $0 } ?? .max, ordering: .relaxed)
    }

    /// Ends the present and all later blocking calls.
    func cancel() { cancelled.store(true, ordering: .relaxed) }

    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }
    /// The last call was ended because its time was over.
    var hasExpired: Bool { expired.load(ordering: .relaxed) }

    /// The time is over, or it was told to stop.
    var mustStop: Bool {
        if isCancelled { return true }
        guard monotonicNanoseconds() > deadline.load(ordering: .relaxed) else { return false }
        expired.store(true, ordering: .relaxed)
        return true
    }

    /// What `AVFormatContext.interrupt_callback` and `avio_open2` take; it does not retain this object.
    var callback: AVIOInterruptCB {
        AVIOInterruptCB(callback: deadlineCallback, opaque: Unmanaged.passUnretained(self).toOpaque())
    }
}

private func deadlineCallback(opaque: UnsafeMutableRawPointer?) -> Int32 {
    guard let opaque else { return 0 }
    return Unmanaged<InterruptDeadline>.fromOpaque(opaque).takeUnretainedValue().mustStop ? 1 : 0
}
