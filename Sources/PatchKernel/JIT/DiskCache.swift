import Glibc
import PatchMedia
import Synchronization

/// Machine code on disk: a file for each key, which holds the key's text, so that nothing is ever taken for another.
///
/// Files appear whole, by a rename, so that several processes may share a directory. What cannot be read, has a wrong
/// checksum or another key counts as absent; what cannot be written is not kept.
/// Thread-safety: all members may be called from any thread.
struct DiskCache: Sendable {
    let directory: String

    private static let magic: [UInt8] = Array("patchbay code 3\n".utf8)
    private static let sizeLimit = 64 << 20
    private static let counter = Atomic(0)

    private func path(_ key: CodeKey) -> String { "\(directory)/\(key.name).code" }

    func load(_ key: CodeKey, description: PassDescription) -> PassCode? {
        guard let bytes = Self.read(path(key)), bytes.count > Self.magic.count + 8,
            bytes.starts(with: Self.magic)
        else { return nil }
        var reader = Reader(bytes: bytes, position: Self.magic.count)
        guard let checksum = reader.int(), checksum == Self.checksum(bytes[reader.position...]),
            let keyBytes = reader.data(), keyBytes.elementsEqual(key.text.utf8),
            let columns = reader.int(), let rows = reader.int(), let hoisted = reader.int(),
            let slotCount = reader.int(), (8...256).contains(columns), (1...4).contains(rows), hoisted >= 0,
            hoisted < 1 << 20, slotCount >= 0, slotCount < 1 << 20
        else { return nil }
        var layout = PassLayout(description: description, columns: columns, rows: rows)
        for _ in 0..<slotCount {
            guard let input = reader.int(), let plane = reader.int(), let dy = reader.int(), let edge = reader.int(),
                let rule = reader.int(), let left = reader.int(), let right = reader.int(),
                description.inputs.indices.contains(input),
                (0..<description.inputs[input].format.planeCount).contains(plane),
                EdgeMode.allCases.indices.contains(edge), Self.rules.indices.contains(rule)
            else { return nil }
            let slot = ReadSlot(
                input: input, plane: plane, dy: dy, edge: EdgeMode.allCases[edge], rule: Self.rules[rule])
            _ = layout.slot(slot, shift: -left)
            _ = layout.slot(slot, shift: right)
        }
        guard layout.slots.count == slotCount, let boundBits = reader.int(), let reason = reader.data(),
            let span = reader.data(), let prepare = reader.data()
        else { return nil }
        let bound = Double(bitPattern: UInt64(bitPattern: Int64(boundBits)))
        return PassCode(
            layout: layout, hoistedCount: hoisted,
            arithmetic: bound >= 0 ? .int16(bound: bound) : .float(reason: String(decoding: reason, as: UTF8.self)),
            objects: [Array(span), Array(prepare)])
    }

    func store(_ code: PassCode, _ key: CodeKey) {
        var body: [UInt8] = []
        func append(_ value: Int) { withUnsafeBytes(of: value.littleEndian) { body.append(contentsOf: $0) } }
        append(key.text.utf8.count)
        body.append(contentsOf: key.text.utf8)
        append(code.layout.columns)
        append(code.layout.rows)
        append(code.hoistedCount)
        append(code.layout.slots.count)
        for (slot, halo) in zip(code.layout.slots, code.layout.halos) {
            append(slot.input)
            append(slot.plane)
            append(slot.dy)
            append(EdgeMode.allCases.firstIndex(of: slot.edge) ?? 0)
            append(Self.rules.firstIndex(of: slot.rule) ?? 0)
            append(halo.left)
            append(halo.right)
        }
        let (bound, reason): (Double, String) =
            switch code.arithmetic {
            case .int16(let bound): (bound, "")
            case .float(let reason): (-1, reason)
            }
        append(Int(Int64(bitPattern: bound.bitPattern)))
        append(reason.utf8.count)
        body.append(contentsOf: reason.utf8)
        for object in code.objects {
            append(object.count)
            body.append(contentsOf: object)
        }
        var file = Self.magic
        withUnsafeBytes(of: Self.checksum(body[...]).littleEndian) { file.append(contentsOf: $0) }
        file.append(contentsOf: body)
        Self.makeDirectory(directory)
        let number = Self.counter.add(1, ordering: .relaxed).newValue
        let temporary = "\(path(key)).\(getpid()).\(number)"
        if Self.write(file, to: temporary), rename(temporary, path(key)) == 0 { return }
        unlink(temporary)
    }

    private static let rules: [ReadSlot.RowRule] = [.direct, .chromaNear, .chromaFar, .halfNear, .halfFar]

    /// FNV-1a.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> Int {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        bytes.withUnsafeBufferPointer { bytes in
            for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        }
        return Int(truncatingIfNeeded: hash)
    }

    private struct Reader {
        let bytes: [UInt8]
        var position: Int

        mutating func int() -> Int? {
            guard bytes.count - position >= 8 else { return nil }
            defer { position += 8 }
            return bytes.withUnsafeBytes { Int(littleEndian: $0.loadUnaligned(fromByteOffset: position, as: Int.self)) }
        }

        /// A length, then that many bytes.
        mutating func data() -> ArraySlice<UInt8>? {
            guard let count = int(), count >= 0, count <= bytes.count - position else { return nil }
            defer { position += count }
            return bytes[position..<position + count]
        }
    }

    // MARK: Files

    private static func read(_ path: String) -> [UInt8]? {
        // Not blocking: somebody may have put a pipe there.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0,
            status.st_size <= sizeLimit
        else { return nil }
        let size = Int(status.st_size)
        var isComplete = false
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            while count < size {
                let got = Glibc.read(file, buffer.baseAddress! + count, size - count)
                if got <= 0 { return }
                count += got
            }
            isComplete = true
        }
        return isComplete ? bytes : nil
    }

    private static func write(_ bytes: [UInt8], to path: String) -> Bool {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        var written = 0
        bytes.withUnsafeBytes { bytes in
            while written < bytes.count {
                let count = Glibc.write(file, bytes.baseAddress! + written, bytes.count - written)
                if count <= 0 { return }
                written += count
            }
        }
        return close(file) == 0 && written == bytes.count
    }

    private static func makeDirectory(_ path: String) {
        var partial = ""
        for part in path.split(separator: "/", omittingEmptySubsequences: false) {
            partial += part
            if !partial.isEmpty { mkdir(partial, 0o700) }
            partial += "/"
        }
    }
}
