internal import CFrei0r
import Glibc
import PatchMedia
import Synchronization

/// A plugin at work in its own process, with the pictures in memory that both sides share.
///
/// Thread-safety: one thread at a time, except `cancel`.
final class Frei0rProcess: @unchecked Sendable {
    // Unchecked: the memory and the socket are used by the guest's thread alone; `cancel` only sends a signal to the child,
    // whose number is kept until it was waited for, under a lock.
    private let plugin: Frei0rPlugin
    private let block: UnsafeMutablePointer<patch_guest_block>
    private let size: Int
    private let socket: Int32
    private let child = Mutex<pid_t?>(nil)
    private let width: Int
    private let height: Int

    /// Whole multiples of 8, as frei0r asks for.
    static func padded(_ side: Int) -> Int { (side + 7) / 8 * 8 }

    /// Starts the process and waits until the plugin is ready.
    /// - Parameter texts: the text parameters in the plugin's order.
    /// - Throws: `PatchError` with what the plugin or the system says.
    init(_ plugin: Frei0rPlugin, width: Int, height: Int, texts: [String]) throws {
        self.plugin = plugin
        self.width = Self.padded(width)
        self.height = Self.padded(height)
        let bytes = self.width * self.height * 4
        let header = (MemoryLayout<patch_guest_block>.size + 4095) / 4096 * 4096
        let each = (bytes + 4095) / 4096 * 4096
        size = header + each * (plugin.kind.inputs + 1)
        let memory = patch_memfd("patchbay-guest")
        guard memory >= 0 else { throw Self.refused("no shared memory") }
        defer { close(memory) }
        guard ftruncate(memory, size) == 0,
            let mapped = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0), mapped != MAP_FAILED
        else { throw Self.refused("no shared memory of \(size) bytes") }
        block = mapped.bindMemory(to: patch_guest_block.self, capacity: 1)
        block.pointee.width = UInt32(self.width)
        block.pointee.height = UInt32(self.height)
        block.pointee.inputs = UInt32(plugin.kind.inputs)
        let offsets = (0..<3).map { UInt64(header + each * $0) }
        block.pointee.input_offsets = (offsets[0], offsets[1], offsets[2])
        block.pointee.output_offset = UInt64(header + each * plugin.kind.inputs)
        block.pointee.parameter_count = UInt32(plugin.parameters.reduce(0) { $0 + $1.defaultValue.count })
        var ends: [Int32] = [-1, -1]
        guard patch_socketpair(&ends) == 0 else {
            munmap(mapped, size)
            throw Self.refused("no socket")
        }
        socket = ends[0]
        defer { close(ends[1]) }
        let arguments = ["run", plugin.file, "\(self.width)", "\(self.height)"] + texts
        let started = try HelperProgram.start(arguments, third: ends[1], fourth: memory)
        child.withLock { $0 = started }
    }

    deinit {
        close(socket)
        let process = child.withLock { $0 }
        if let process { HelperProgram.reap(process, until: monotonicNanoseconds() + 200_000_000) }
        munmap(block, size)
    }

    private static func refused(_ what: String) -> PatchError {
        PatchError(.unavailable, "\(what) for a frei0r plugin", cause: String(cString: strerror(errno)))
    }

    /// Waits until the plugin is ready for pictures.
    func waitUntilReady(within seconds: Double) throws {
        try expect(UInt8(PATCH_GUEST_READY), within: seconds)
    }

    /// Copies a picture in, its last column and row repeated up to the padded size.
    func setInput(_ index: Int, _ frame: Frame) {
        let offsets = block.pointee.input_offsets
        let offset = [offsets.0, offsets.1, offsets.2][index]
        let base = UnsafeMutableRawPointer(block) + Int(offset)
        let plane = frame.plane(0)
        let bytes = frame.width * 4
        for y in 0..<height {
            let target = base + y * width * 4
            let source = plane.row(min(y, frame.height - 1))
            target.copyMemory(from: source, byteCount: bytes)
            if frame.width < width {
                let last = source.loadUnaligned(fromByteOffset: bytes - 4, as: UInt32.self)
                for x in frame.width..<width { target.storeBytes(of: last, toByteOffset: x * 4, as: UInt32.self) }
            }
        }
    }

    func setParameters(_ values: [Double]) {
        withUnsafeMutableBytes(of: &block.pointee.parameters) { bytes in
            let numbers = bytes.assumingMemoryBound(to: Double.self)
            for (index, value) in values.enumerated() where index < numbers.count { numbers[index] = value }
        }
    }

    /// Computes a picture.
    /// - Parameter time: seconds of graph time.
    func compute(time: Double, within seconds: Double) throws {
        block.pointee.time = time
        var word = UInt8(PATCH_GUEST_FRAME)
        guard patch_send(socket, &word, 1) == 1 else { throw ended() }
        try expect(UInt8(PATCH_GUEST_DONE), within: seconds)
    }

    /// Copies the result into a frame of the unpadded size.
    func copyOutput(to frame: Frame) {
        let base = UnsafeRawPointer(block) + Int(block.pointee.output_offset)
        let plane = frame.plane(0)
        for y in 0..<frame.height {
            plane.row(y).copyMemory(from: base + y * width * 4, byteCount: frame.width * 4)
        }
    }

    /// Ends the process from any thread; `compute` then throws.
    func cancel() {
        child.withLock { if let process = $0 { kill(process, SIGKILL) } }
    }

    private func expect(_ wanted: UInt8, within seconds: Double) throws {
        let deadline = monotonicNanoseconds() + Int64(seconds * 1e9)
        var message = [UInt8](repeating: 0, count: 512)
        while true {
            let left = max(0, (deadline - monotonicNanoseconds()) / 1_000_000)
            var wait = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            let ready = poll(&wait, 1, Int32(left))
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else {
                cancel()
                throw failure("it gave no picture within \(seconds) s and was ended")
            }
            let count = recv(socket, &message, message.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw ended() }
            if message[0] == wanted { return }
            if message[0] == UInt8(PATCH_GUEST_ERROR) {
                throw failure(String(decoding: message[1..<count], as: UTF8.self))
            }
        }
    }

    private func ended() -> PatchError {
        let process = child.withLock { process in
            defer { process = nil }
            return process
        }
        let status = process.map { HelperProgram.reap($0, until: monotonicNanoseconds() + 500_000_000) } ?? 0
        return failure(HelperProgram.describe(status))
    }

    private func failure(_ reason: String) -> PatchError {
        PatchError(
            .media, "the frei0r plugin '\(plugin.name)' failed", remedy: "take it out, or give it other values",
            cause: reason)
    }
}
