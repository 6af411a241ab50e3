import Glibc
import PatchKernel
import PatchMedia

/// Filters of the library as one fused kernel, from the text forms that tests keep in Tests/Goldens/kernels: what a graph's pass
/// computes, without the graph.
///
/// `contrast=1.1 saturation=0.8 clamp vignette=1,0.5,0.5,0,0,0,1,0.75,0.3 gamma=0.9`: names, each with its uniforms in the order
/// of the text form; `clamp` limits colours to 0…1. A name with a slash is a file.
struct FilterChain {
    struct Problem: Error, CustomStringConvertible {
        var description: String
    }

    let kernel: Kernel
    let uniforms: [Float]

    init(_ text: String) throws {
        var fused: Kernel?
        var values: [Float] = []
        for word in text.split(separator: " ") {
            let parts = word.split(separator: "=", maxSplits: 1)
            let numbers = (parts.count > 1 ? parts[1].split(separator: ",") : []).compactMap { Float($0) }
            let kernel = parts[0] == "clamp" ? try Self.clamp() : try Self.read(String(parts[0]))
            guard numbers.count == kernel.uniformFloatCount else {
                throw Problem(description: "\(parts[0]): \(kernel.uniformFloatCount) uniforms, not \(numbers.count)")
            }
            fused = if let before = fused { try kernel.inlining(before, asInput: 0) } else { kernel }
            values = numbers + values
        }
        guard let fused else { throw Problem(description: "no filter is named") }
        kernel = fused.simplified()
        uniforms = values
    }

    private static func clamp() throws(KernelError) -> Kernel {
        var b = KernelBuilder(name: "clamp", inputs: [InputDeclaration(name: "image")])
        let c = b.current(0)
        let limited = try b.apply(.clamp, [b.swizzle(c, "rgb"), b.constant(Float(0)), b.constant(Float(1))])
        return try b.finish(try b.construct(.vec4, [limited, b.swizzle(c, "a")]))
    }

    /// The first kernel of a file.
    private static func read(_ name: String) throws -> Kernel {
        let path = name.contains("/") ? name : "Tests/Goldens/kernels/\(name).txt"
        guard let file = fopen(path, "r") else { throw Problem(description: "cannot read \(path)") }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let text = String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
        let lines = text.split(separator: "\n")
        let first = lines.firstIndex { $0.hasPrefix("kernel") } ?? 0
        let end = lines[first...].firstIndex { $0.hasPrefix("result") } ?? lines.count - 1
        return try Kernel(parsing: lines[first...end].joined(separator: "\n"))
    }

    /// - Parameter formats: read and written, such as `yuv420p-rgba`.
    func workload(_ formats: String) throws -> Workload {
        let names = formats.split(separator: "-").map { PixelFormat(rawValue: String($0)) }
        guard names.count == 2, let source = names[0], let target = names[1] else {
            throw Problem(description: "formats are given as yuv420p-rgba, not as \(formats)")
        }
        return Workload(
            name: "filters \(formats)", kernel: kernel, uniforms: uniforms, source: source, target: target,
            premultiplied: false)
    }
}
