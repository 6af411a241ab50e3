import Glibc
import PatchGraph
import PatchKernel
import PatchLua
import Testing

/// The kernels of the built-in filters as IR text, as recorded under Tests/Goldens/kernels. `PATCHBAY_RECORD=1` records them
/// again; a change of a filter or of the tracer shows in the difference.
@Suite struct FilterGoldenTests {
    private static let folder: String = {
        let parts = #filePath.split(separator: "/").dropLast(2)
        return "/" + parts.joined(separator: "/") + "/Goldens/kernels"
    }()

    /// Longer texts are recorded by size and checksum: nobody reads thousands of lines, and every change still shows.
    private static let lineLimit = 300

    private static func text(of filter: KernelFilter) -> String {
        filter.stages.enumerated().map { index, stage in
            guard let kernel = stage.kernel else { return "# stage \(index)\n# \(stage.work)\n" }
            let text = kernel.text
            let lines = text.split(separator: "\n")
            if lines.count <= lineLimit { return "# stage \(index)\n\(text)" }
            var hash: UInt64 = 0xcbf2_9ce4_8422_2325
            for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
            let head = lines.prefix { !$0.hasPrefix("%") }.joined(separator: "\n")
            return "# stage \(index)\n\(head)\n# \(lines.count) lines, FNV-1a \(String(hash, radix: 16))\n"
        }.joined()
    }

    private static func read(_ path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        bytes.removeLast(bytes.count - fread(&bytes, 1, bytes.count, file))
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(arguments: FakeGraph.catalog.names) func kernelsAreAsRecorded(name: String) throws {
        let filter = try FakeGraph.catalog.filter(name)
        let text = Self.text(of: filter)
        for kernel in filter.stages.compactMap(\.kernel) { #expect(try Kernel(parsing: kernel.text) == kernel) }
        let path = "\(Self.folder)/\(name).txt"
        if getenv("PATCHBAY_RECORD") != nil {
            mkdir(Self.folder, 0o755)
            let file = try #require(fopen(path, "w"))
            fputs(text, file)
            fclose(file)
        }
        let recorded = try #require(Self.read(path), "\(name) is new: record it with PATCHBAY_RECORD=1")
        let (old, new) = (recorded.split(separator: "\n"), text.split(separator: "\n"))
        for (line, (a, b)) in zip(old, new).enumerated() where a != b {
            Issue.record(
                "\(name), line \(line + 1): '\(a)' became '\(b)'; PATCHBAY_RECORD=1 records it if that is meant")
            return
        }
        #expect(
            old.count == new.count, "\(name) has other lines at its end; PATCHBAY_RECORD=1 records it if that is meant")
    }

    /// No file is left over from a filter that is gone.
    @Test func everyGoldenHasItsFilter() throws {
        let names = Set(FakeGraph.catalog.names)
        for file in LooksTests.names(Self.folder, suffix: ".txt") {
            #expect(names.contains(file), "Tests/Goldens/kernels/\(file).txt belongs to no filter; remove it")
        }
    }
}
