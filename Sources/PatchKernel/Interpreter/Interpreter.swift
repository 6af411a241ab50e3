import Glibc
import PatchMedia

/// Runs a pass one pixel and one value at a time: slow, and simple enough to be believed. The oracle that the JIT is
/// compared with.
///
/// Thread-safety: `run` may be called from several threads on disjoint rows.
public struct Interpreter {
    let description: PassDescription
    let readers: [PictureReader]
    let output: ImageReference
    let uniforms: UnsafePointer<Float>
    let context: FrameContext
    let loops: LoopStructure
    let offsets: [Int]
    let registerCount: Int

    /// Computes the output's rows `rows`; the parameters are those of `CompiledPass.run`.
    public static func run(
        _ description: PassDescription, inputs: UnsafeBufferPointer<ImageReference>, output: ImageReference,
        uniforms: UnsafePointer<Float>, context: FrameContext, rows: Range<Int>
    ) {
        let kernel = description.kernel
        precondition(inputs.count == kernel.inputs.count && description.inputs.count == kernel.inputs.count)
        var offsets: [Int] = []
        var count = 0
        for node in kernel.nodes {
            offsets.append(count)
            if case .loop = node.kind {
                let carried = node.arguments[..<((node.arguments.count - 1) / 2)]
                count += carried.reduce(0) { $0 + kernel.nodes[$1].type.componentCount }
            } else {
                count += node.type.componentCount
            }
        }
        let interpreter = Interpreter(
            description: description,
            readers: inputs.indices.map {
                PictureReader(image: inputs[$0], input: description.inputs[$0], planes: description.planes)
            },
            output: output, uniforms: uniforms, context: context, loops: kernel.loopStructure, offsets: offsets,
            registerCount: count)
        interpreter.write(rows: rows)
    }

    /// The kernel's result at a pixel, in the form that the kernel declares.
    func pixel(_ x: Int, _ y: Int, _ registers: inout [UInt32]) -> [Float] {
        let kernel = description.kernel
        for index in kernel.nodes.indices where loops.owner[index] == nil {
            evaluate(index, x, y, &registers)
        }
        return floats(kernel.result, registers)
    }

    func floats(_ index: Int, _ registers: [UInt32]) -> [Float] {
        let count = description.kernel.nodes[index].type.componentCount
        return (0..<count).map { Float(bitPattern: registers[offsets[index] + $0]) }
    }
    func int(_ index: Int, _ registers: [UInt32]) -> Int32 { Int32(bitPattern: registers[offsets[index]]) }
    func bool(_ index: Int, _ registers: [UInt32]) -> Bool { registers[offsets[index]] != 0 }

    private func store(_ values: [Float], _ index: Int, _ registers: inout [UInt32]) {
        for (i, value) in values.enumerated() { registers[offsets[index] + i] = value.bitPattern }
    }

    private func evaluate(_ index: Int, _ x: Int, _ y: Int, _ registers: inout [UInt32]) {
        let kernel = description.kernel
        let node = kernel.nodes[index]
        let at = offsets[index]
        switch node.kind {
        case .float(let bits): registers[at] = bits
        case .int(let value): registers[at] = UInt32(bitPattern: value)
        case .bool(let value): registers[at] = value ? 1 : 0
        case .uniform(let uniform):
            let offset = kernel.uniformOffset(uniform)
            switch node.type {
            case .int: registers[at] = UInt32(bitPattern: Int32(clampToInt(uniforms[offset])))
            case .bool: registers[at] = uniforms[offset] != 0 ? 1 : 0
            default:
                let range = kernel.uniforms[uniform].range
                for i in 0..<node.type.componentCount {
                    var value = uniforms[offset + i]
                    if let range {
                        value = value > range.lowerBound ? value : range.lowerBound
                        value = value < range.upperBound ? value : range.upperBound
                    }
                    registers[at + i] = value.bitPattern
                }
            }
        case .current(let input):
            store(decode(input, readers[input].pixel(x, y, .clamp, isOffset: true)), index, &registers)
        case .tap(let input, let dx, let dy, let edge):
            store(decode(input, readers[input].offset(x, y, dx: dx, dy: dy, edge)), index, &registers)
        case .sample(let input, let filter, let edge):
            let uv = floats(node.arguments[0], registers)
            store(decode(input, readers[input].sample(uv[0], uv[1], filter, edge)), index, &registers)
        case .builtin(let builtin): evaluate(builtin, index, x, y, &registers)
        case .operation(let operation): evaluate(operation, node, index, &registers)
        case .construct:
            let parts = node.arguments.flatMap { floats($0, registers) }
            let count = node.type.componentCount
            store(parts.count == count ? parts : Array(repeating: parts[0], count: count), index, &registers)
        case .swizzle(let indices):
            let value = floats(node.arguments[0], registers)
            store(indices.map { value[Int($0)] }, index, &registers)
        case .select:
            let isMask = kernel.nodes[node.arguments[0]].type.isVector
            for i in 0..<node.type.componentCount {
                let condition =
                    isMask
                    ? Float(bitPattern: registers[offsets[node.arguments[0]] + i]) != 0
                    : bool(node.arguments[0], registers)
                registers[at + i] = registers[offsets[node.arguments[condition ? 1 : 2]] + i]
            }
        case .convert(let conversion):
            let value = convert(floats(node.arguments[0], registers), conversion)
            store(value, index, &registers)
        case .loopParameter: break
        case .loop(let loop, let limit): runLoop(index, loop, limit, node, x, y, &registers)
        case .loopResult(let carried):
            // A loop's register holds its carried values one after another.
            let source = offsets[node.arguments[0]] + carriedOffset(kernel.nodes[node.arguments[0]], carried)
            for i in 0..<node.type.componentCount { registers[at + i] = registers[source + i] }
        }
    }

    // MARK: Loops

    private func carriedOffset(_ loop: Node, _ carried: Int) -> Int {
        loop.arguments[..<carried].reduce(0) { $0 + description.kernel.nodes[$1].type.componentCount }
    }

    private func runLoop(
        _ index: Int, _ loop: Int, _ limit: Int, _ node: Node, _ x: Int, _ y: Int, _ registers: inout [UInt32]
    ) {
        let kernel = description.kernel
        let count = (node.arguments.count - 1) / 2
        let body = loops.bodies[loop] ?? []
        func values(_ indices: ArraySlice<Int>) -> [[UInt32]] {
            indices.map { index in
                let size = kernel.nodes[index].type.componentCount
                return Array(registers[offsets[index]..<offsets[index] + size])
            }
        }
        var carried = values(node.arguments[..<count])
        func setParameters(_ iteration: Int) {
            for index in body {
                guard case .loopParameter(loop, let parameter) = kernel.nodes[index].kind else { continue }
                if parameter < 0 {
                    registers[offsets[index]] = UInt32(iteration)
                } else {
                    for (i, bits) in carried[parameter].enumerated() { registers[offsets[index] + i] = bits }
                }
            }
        }
        for iteration in 0..<limit {
            setParameters(iteration)
            for index in body { evaluate(index, x, y, &registers) }
            guard bool(node.arguments[count], registers) else { break }
            carried = values(node.arguments[(count + 1)...])
        }
        for (i, bits) in carried.joined().enumerated() { registers[offsets[index] + i] = bits }
    }
}
