import Glibc
import PatchMedia

/// Tells when one of some files was saved, however the editor does it: written in place, or written beside and renamed.
///
/// Folders are watched, not files, because a rename replaces the file that a watch would be on.
/// Thread-safety: all members may be called from any thread.
final class FileWatch: Sendable {
    private struct State {
        /// Where to look for what, by watch descriptor.
        var folders: [Int32: (path: String, names: Set<String>)] = [:]
        var isStopped = false
    }

    private let state = Monitor(State())
    private let inotify: Int32
    /// A pipe that is written to when the thread shall end.
    private let wake: (read: Int32, write: Int32)
    private let changed: @Sendable () -> Void
    private let thread: Monitor<PosixThread?> = Monitor(nil)

    /// - Parameter changed: called on the watch's own thread, once for a burst of changes.
    /// - Throws: `PatchError.unavailable` when the system has no watches left.
    init(changed: @escaping @Sendable () -> Void) throws {
        self.changed = changed
        inotify = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        var ends: (Int32, Int32) = (-1, -1)
        let status = withUnsafeMutablePointer(to: &ends) { ends in
            ends.withMemoryRebound(to: Int32.self, capacity: 2) { pipe($0) }
        }
        wake = (ends.0, ends.1)
        guard inotify >= 0, status == 0 else {
            if inotify >= 0 { close(inotify) }
            throw PatchError(
                .unavailable, "cannot watch files", remedy: "raise fs.inotify.max_user_instances",
                cause: String(cString: strerror(errno)))
        }
    }

    deinit {
        close(inotify)
        close(wake.read)
        close(wake.write)
    }

    /// Begins to tell. Call once, then `stop` before letting go.
    func start() throws {
        let started = try PosixThread(name: "graph-watch") { [self] in loop() }
        thread.withLock { $0 = started }
    }

    /// Ends the thread and waits for it.
    func stop() {
        state.withLock { $0.isStopped = true }
        var one: UInt8 = 1
        _ = write(wake.write, &one, 1)
        let running = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        running?.join()
    }

    /// Watches these files instead of those before. Where a folder does not exist yet, the nearest one that does is
    /// watched for it.
    /// - Parameter files: absolute paths; the files need not exist.
    func watch(_ files: [String]) {
        var folders: [String: Set<String>] = [:]
        for file in files {
            var folder = ScriptFiles.folder(of: file)
            var name = ScriptFiles.name(of: file)
            while ScriptFiles.real(folder) == nil, folder != "/" {
                name = ScriptFiles.name(of: folder)
                folder = ScriptFiles.folder(of: folder)
            }
            folders[folder, default: []].insert(name)
        }
        state.withLock { state in
            let before = state.folders
            state.folders = [:]
            for (folder, names) in folders {
                let mask = UInt32(IN_CLOSE_WRITE) | UInt32(IN_MOVED_TO) | UInt32(IN_CREATE) | UInt32(IN_DELETE_SELF)
                let descriptor = inotify_add_watch(inotify, folder, mask)
                if descriptor >= 0 { state.folders[descriptor, default: (folder, [])].names.formUnion(names) }
            }
            for descriptor in before.keys where state.folders[descriptor] == nil {
                inotify_rm_watch(inotify, descriptor)
            }
        }
    }

    private func loop() {
        let buffer = UnsafeMutableRawPointer.allocate(byteCount: 65_536, alignment: 8)
        defer { buffer.deallocate() }
        while true {
            var descriptors = [
                pollfd(fd: inotify, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wake.read, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&descriptors, 2, -1)
            if state.withLock({ $0.isStopped }) { return }
            guard readEvents(buffer) else { continue }
            // Editors save in several steps: wait until 5 ms were quiet, but never longer than 50 ms.
            for _ in 0..<10 {
                descriptors[0].revents = 0
                if poll(&descriptors, 1, 5) <= 0 { break }
                _ = readEvents(buffer)
            }
            if state.withLock({ $0.isStopped }) { return }
            changed()
        }
    }

    /// Whether one of the files is among the changes.
    private func readEvents(_ buffer: UnsafeMutableRawPointer) -> Bool {
        var found = false
        while true {
            let count = read(inotify, buffer, 65_536)
            guard count > 0 else { return found }
            var offset = 0
            let header = MemoryLayout<inotify_event>.size
            while offset + header <= count {
                let event = (buffer + offset).loadUnaligned(as: inotify_event.self)
                let bytes = UnsafeRawBufferPointer(start: buffer + offset + header, count: Int(event.len))
                let name = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                offset += header + Int(event.len)
                if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { found = true }
                let folder = state.withLock { state in
                    state.folders[event.wd].flatMap { $0.names.contains(name) ? $0.path : nil }
                }
                guard let folder else { continue }
                // A file that is merely created is not written yet; a folder or a link is complete.
                if event.mask & UInt32(IN_CREATE) != 0, isRegularFile(folder + "/" + name) { continue }
                found = true
            }
        }
    }

    private func isRegularFile(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }
}
