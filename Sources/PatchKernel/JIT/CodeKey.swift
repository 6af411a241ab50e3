import PatchMedia

/// What machine code depends on, as text, and a short name made of it.
struct CodeKey {
    /// Changes whenever this module makes other code of the same description.
    static let generation = 14

    let text: String
    /// 32 hexadecimal digits.
    let name: String

    init(description: PassDescription, cpu: TargetCPU, budget: Int, pipeline: String) {
        var lines = [
            "patchbay \(Self.generation) llvm \(LLVMHost.version) pipeline \(pipeline)",
            "cpu \(cpu.name) \(cpu.features) \(cpu.lanes)x\(cpu.interleave ?? 0)",
        ]
        for input in description.inputs {
            lines.append(
                "reads \(input.format) \(Self.text(input.color)) \(input.orientation) \(input.premultiplied)"
                    + (input.isHalf ? " half" : ""))
        }
        let output = description.output
        lines.append(
            "writes \(output.format) \(Self.text(output.color)) \(output.premultiplied) \(output.dither)")
        lines.append("planes \(description.planes)")
        lines.append(description.kernel.text)
        text = lines.joined(separator: "\n")
        name = Self.digest(text)
    }

    private static func text(_ color: ColorSpec) -> String {
        "\(color.matrix) \(color.range) \(color.primaries) \(color.transfer) \(color.siting)"
    }

    /// Two independent 64-bit FNV-1a hashes; whoever must be sure compares the texts.
    private static func digest(_ text: String) -> String {
        var (a, b): (UInt64, UInt64) = (0xcbf2_9ce4_8422_2325, 0x6c62_272e_07bb_0142)
        for byte in text.utf8 {
            a = (a ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
            b = (b &+ UInt64(byte)) &* 0x9e37_79b9_7f4a_7c15
            b ^= b >> 29
        }
        func hex(_ value: UInt64) -> String {
            let digits = String(value, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
        return hex(a) + hex(b)
    }
}
