import Glibc
import PatchMedia
import Synchronization

/// Writes frames to a file, FIFO or standard output with write(2).
///
/// A FIFO never blocks the graph: without a reader frames are skipped (offline: waited for), and a reader that comes
/// later starts with a header and a whole frame. A full disk leaves the file with whole frames only.
/// Thread-safety: one owner at a time.
struct RawFrameWriter: ~Copyable {
    private let path: String
    private let environment: NodeEnvironment
    private let streamHeader: [UInt8]
    /// One frame as it is written: header and tightly packed rows. Allocated once.
    private let buffer: UnsafeMutableRawBufferPointer
    private let frameHeaderCount: Int
    private let kind: Kind
    /// −1 while a FIFO has no reader.
    private var descriptor: Int32 = -1
    /// Bytes of whole frames in a regular file.
    private var complete: Int64 = 0
    private var needsHeader = true
    private var saidWaiting = false

    private enum Kind { case file, fifo, stdout }
    private enum Outcome { case done, interrupted, readerGone, failed(Int32) }

    /// Opens `path`, creating or emptying a regular file.
    /// - Throws: `PatchError.output` when it cannot be written.
    init(path: String, format: VideoFormat, streamHeader: String, frameHeader: String, environment: NodeEnvironment)
        throws
    {
        // Opened first: a structure that throws halfway would not run its deinit.
        var status = stat()
        var opened: Int32 = -1
        if path == "-" {
            kind = .stdout
            opened = RawFrameWriter.openStandardOutput()
        } else if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFIFO {
            kind = .fifo
        } else {
            kind = .file
            opened = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        }
        if kind != .fifo, opened < 0 { throw RawFrameWriter.failure(errno, path, environment) }
        self.path = path
        self.environment = environment
        self.streamHeader = Array(streamHeader.utf8)
        descriptor = opened
        frameHeaderCount = frameHeader.utf8.count
        buffer = .allocate(byteCount: frameHeaderCount + RawFrameWriter.packedBytes(of: format), alignment: 64)
        buffer.copyBytes(from: frameHeader.utf8)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        buffer.deallocate()
    }

    /// Writes one frame whole, or skips it when a FIFO has no reader.
    /// - Throws: `PatchError.output` when no more can be written.
    mutating func write(_ frame: RawFrame, interrupted: borrowing Atomic<Bool>) throws {
        guard try connect(interrupted) else { return }
        pack(frame)
        var outcome = Outcome.done
        if needsHeader { outcome = streamHeader.withUnsafeBytes { put($0, interrupted) } }
        if case .done = outcome { outcome = put(UnsafeRawBufferPointer(buffer), interrupted) }
        switch outcome {
        case .done:
            complete += Int64(buffer.count + (needsHeader ? streamHeader.count : 0))
            needsHeader = false
        case .interrupted: break
        case .readerGone where kind == .fifo:
            // Closing also throws away what the reader left in the pipe, so that the next one starts clean.
            close(descriptor)
            descriptor = -1
            environment.report(.notice("the reader of \(path) is gone; waiting for another"))
        case .readerGone: throw failure(EPIPE)
        case .failed(let code):
            if kind == .file { _ = ftruncate(descriptor, off_t(complete)) }
            throw failure(code)
        }
    }

    /// Makes sure that there is a descriptor; false when there is no reader yet.
    private mutating func connect(_ interrupted: borrowing Atomic<Bool>) throws -> Bool {
        while descriptor < 0 {
            if interrupted.load(ordering: .relaxed) { return false }
            descriptor = Glibc.open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            if descriptor >= 0 {
                needsHeader = true
                break
            }
            guard errno == ENXIO || errno == EINTR else { throw failure(errno) }
            if !saidWaiting { environment.report(.notice("\(path) has no reader yet; waiting for one")) }
            saidWaiting = true
            guard environment.isOffline else { return false }
            // Offline no frame may be lost, and nothing tells a writer that a reader opened the FIFO.
            _ = poll(nil, 0, 10)
        }
        return true
    }

    private func pack(_ frame: RawFrame) {
        guard var target = buffer.baseAddress.map({ $0 + frameHeaderCount }) else { return }
        for plane in 0..<frame.planeCount {
            let (rows, count, stride) = (
                frame.rows(ofPlane: plane), frame.rowBytes(ofPlane: plane), frame.stride(ofPlane: plane)
            )
            let base = UnsafeRawPointer(frame.frame.plane(plane).base)
            if stride == count {
                target.copyMemory(from: base, byteCount: rows * count)
                target += rows * count
            } else {
                for y in 0..<rows {
                    target.copyMemory(from: base + y * stride, byteCount: count)
                    target += count
                }
            }
        }
    }

    private func put(_ bytes: UnsafeRawBufferPointer, _ interrupted: borrowing Atomic<Bool>) -> Outcome {
        var rest = bytes[...]
        while !rest.isEmpty {
            let chunk = UnsafeRawBufferPointer(rebasing: rest)
            let (count, code) = withoutWriteSignals {
                let count = Glibc.write(descriptor, chunk.baseAddress, chunk.count)
                return (count, count < 0 ? errno : 0)
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
                continue
            }
            switch code {
            case EINTR: continue
            case EPIPE: return .readerGone
            case EAGAIN:
                if interrupted.load(ordering: .relaxed) { return .interrupted }
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&waiting, 1, 100)
            default: return .failed(code)
            }
        }
        return .done
    }

    /// A descriptor of our own for standard output. A pipe is opened anew through /proc, so that it can be written without
    /// blocking while the rest of the program (and whoever else holds the pipe) keeps its blocking one.
    private static func openStandardOutput() -> Int32 {
        var status = stat()
        if fstat(STDOUT_FILENO, &status) == 0, status.st_mode & S_IFMT == S_IFIFO {
            let own = Glibc.open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            if own >= 0 { return own }
        }
        return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
    }

    private static func packedBytes(of format: VideoFormat) -> Int {
        (0..<format.pixelFormat.planeCount).reduce(0) { total, plane in
            let layout = format.pixelFormat.layout(ofPlane: plane)
            return total + layout.width(of: format.width) * layout.bytesPerPixel * layout.height(of: format.height)
        }
    }

    private func failure(_ code: Int32) -> PatchError { RawFrameWriter.failure(code, path, environment) }

    private static func failure(_ code: Int32, _ path: String, _ environment: NodeEnvironment) -> PatchError {
        let target = path == "-" ? "standard output" : path
        let remedy =
            switch code {
            case ENOSPC, EDQUOT, EFBIG:
                "free some space, or write to another disk; whole frames written so far are kept"
            case EPIPE: "the program that read it ended; start it again"
            case ENOENT: "make the folder first"
            case EACCES, EROFS, EPERM: "choose a place that may be written"
            default: ""
            }
        return PatchError(
            .output, "cannot write to \(target)", remedy: remedy, node: environment.nodeID, at: environment.location,
            cause: String(cString: strerror(code)))
    }
}
