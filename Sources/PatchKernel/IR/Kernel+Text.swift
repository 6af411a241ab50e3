extension Kernel: CustomStringConvertible {
    /// The text form: declarations, then one value a line. `Kernel(parsing:)` reads it back.
    /// ```
    /// kernel "warm" space=rgb light=encoded alpha=straight
    /// input "image" light=encoded alpha=straight
    /// uniform "amount" float -1.0 1.0
    /// %0 = current 0 : vec4
    /// %1 = uniform 0 : float
    /// %2 = mul %0 %1 : vec4
    /// result %2
    /// ```
    public var text: String {
        var lines = [
            "kernel \(Self.quoted(name)) space=\(space.rawValue) light=\(light.rawValue) alpha=\(alpha.rawValue)"
        ]
        for input in inputs {
            lines.append(
                "input \(Self.quoted(input.name)) light=\(input.light.rawValue) alpha=\(input.alpha.rawValue)")
        }
        for uniform in uniforms {
            let range = uniform.range.map { " \($0.lowerBound) \($0.upperBound)" } ?? ""
            lines.append("uniform \(Self.quoted(uniform.name)) \(uniform.type.rawValue)\(range)")
        }
        for (index, node) in nodes.enumerated() {
            let arguments = node.arguments.map { " %\($0)" }.joined()
            lines.append("%\(index) = \(node.kind.text)\(arguments) : \(node.type.rawValue)")
        }
        lines.append("result %\(result)")
        return lines.joined(separator: "\n") + "\n"
    }

    public var description: String { text }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for character in text.unicodeScalars {
            switch character {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(character)
            }
        }
        return result + "\""
    }
}

extension NodeKind {
    /// Word and immediate operands; arguments follow.
    var text: String {
        switch self {
        case .float(let bits):
            let value = Float(bitPattern: bits)
            // The shortest decimal that reads back the same; NaN by its bits.
            return value.isNaN ? "float bits=\(bits)" : "float \(value)"
        case .int(let value): return "int \(value)"
        case .bool(let value): return "bool \(value)"
        case .uniform(let index): return "uniform \(index)"
        case .current(let input): return "current \(input)"
        case .tap(let input, let dx, let dy, let edge): return "tap \(input) \(dx) \(dy) \(edge.rawValue)"
        case .sample(let input, let filter, let edge): return "sample \(input) \(filter.rawValue) \(edge.rawValue)"
        case .builtin(.inputSize(let input)): return "inputSize \(input)"
        case .builtin(.hash): return "pixelHash"
        case .builtin(let builtin): return "\(builtin)"
        case .operation(let operation): return operation.rawValue
        case .construct: return "construct"
        case .swizzle(let indices):
            let letters: [Character] = ["x", "y", "z", "w"]
            return "swizzle " + String(indices.map { letters[Int($0)] })
        case .select: return "select"
        case .convert(let conversion): return conversion.rawValue
        case .loopParameter(let loop, let index): return "loopParameter \(loop) \(index)"
        case .loop(let loop, let limit): return "loop \(loop) \(limit)"
        case .loopResult(let index): return "loopResult \(index)"
        }
    }
}
