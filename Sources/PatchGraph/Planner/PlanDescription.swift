import PatchKernel
import PatchMedia

extension Plan {
    /// The passes as text, for `patchbay graph --passes`: one block a step, what it reads, does and writes, and why it ends.
    public var passesText: String {
        var lines: [String] = []
        var slotNames: [Int: String] = [:]
        for source in sources { if let slot = source.slot { slotNames[slot] = source.id } }
        for memory in memories {
            for output in memory.outputs {
                let ago = output.ticks == 1 ? "1 tick" : "\(output.ticks) ticks"
                slotNames[output.slot] = "\(memory.key.picture) of \(memory.node) \(ago) ago"
            }
        }
        func name(_ slot: Int) -> String { slotNames[slot] ?? "picture \(slot)" }
        for (index, step) in steps.enumerated() {
            switch step {
            case .pass(let pass):
                let work = pass.nodes.isEmpty ? "convert" : pass.nodes.joined(separator: " + ")
                if !pass.isSeed { slotNames[pass.output] = "pass \(index + 1)" }
                lines.append("pass \(index + 1): \(work)\(pass.isSeed ? ", in the first tick only" : "")")
                for (position, slot) in pass.inputs.enumerated() {
                    let footprint = pass.compiled.description.kernel.footprint(ofInput: position)
                    lines.append("  reads  \(name(slot)): \(slots[slot]), \(footprint)")
                }
                lines.append("  writes \(slots[pass.output])\(pass.planesText)")
                lines.append(
                    "  kernel \(pass.compiled.description.kernel.valueCount) values; ends here because \(pass.reason)")
                var arithmetic = "\(pass.compiled.arithmetic)"
                if let chroma = pass.chroma, "\(chroma.arithmetic)" != arithmetic {
                    arithmetic += "; chroma in \(chroma.arithmetic)"
                }
                lines.append("  computes in \(arithmetic)")
            case .process(let process):
                slotNames[process.output] = process.id
                lines.append("native \(process.id)")
                lines.append("  reads  \(name(process.input)): \(slots[process.input])")
                lines.append("  writes \(slots[process.output])")
            case .operate(let operate):
                slotNames[operate.output] = "\(operate.name) of \(operate.id)"
                lines.append("native \(operate.name) of \(operate.id)")
                for slot in operate.inputs { lines.append("  reads  \(name(slot)): \(slots[slot])") }
                lines.append("  writes \(slots[operate.output])")
            }
        }
        for memory in memories {
            lines.append(
                "memory: \(memory.key.picture) of \(memory.node), \(memory.depth) "
                    + "frame\(memory.depth == 1 ? "" : "s") of \(memory.key.format), \((memory.bytes + 1023) / 1024) KB"
            )
        }
        for group in bands {
            let last = group.steps.upperBound
            lines.append(
                "passes \(group.steps.lowerBound + 1) to \(last) run together over bands of \(group.rows) rows; only the last "
                    + "picture is whole")
        }
        for sink in sinks {
            if sink.isLeftOut {
                lines.append("sink \(sink.id): left out, this machine cannot show it")
                continue
            }
            let picture = sink.slot.map { "\(name($0)): \(slots[$0])" } ?? "no picture"
            let heard = sink.sounds.map { sounds[$0].title }.joined(separator: " and ")
            let sound = heard.isEmpty ? "" : ", sound of \(heard)"
            lines.append("sink \(sink.id): \(picture)\(sound)")
        }
        return lines.joined(separator: "\n")
    }
}

extension PlanPass {
    var planesText: String {
        if chroma != nil { return ", luma and chroma apart" }
        return whyTogether.isEmpty ? "" : ", chroma through luma's size because \(whyTogether)"
    }
}

extension Patch {
    /// The nodes and wires in Graphviz's language, for `patchbay graph --dot`.
    public func dot(registry: NodeRegistry) -> String {
        var lines = ["digraph patch {", "  rankdir=LR;", "  node [fontname=\"sans-serif\"];"]
        for node in nodes {
            let role: NodeSchema.Role
            switch node.body {
            case .kernels, .sound: role = .filter
            case .registered: role = registry[node.kind]?.schema.role ?? .filter
            }
            let shape =
                switch role {
                case .source: "invhouse"
                case .filter: "box"
                case .sink: "house"
                }
            let label = node.id == node.kind ? node.id : "\(node.id)\\n\(node.kind)"
            lines.append("  \(Self.quoted(node.id)) [shape=\(shape), label=\"\(Self.escaped(label))\"];")
        }
        for wire in wires {
            var attributes: [String] = []
            if wire.port > 0 { attributes.append("headlabel=\"\(wire.port + 1)\"") }
            if wire.media == .audio { attributes.append("style=dashed") }
            let suffix = attributes.isEmpty ? "" : " [\(attributes.joined(separator: ", "))]"
            lines.append("  \(Self.quoted(wire.from)) -> \(Self.quoted(wire.to))\(suffix);")
        }
        lines.append("}")
        return lines.joined(separator: "\n")
    }

    private static func quoted(_ id: String) -> String { "\"\(escaped(id))\"" }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            if character == "\"" { result += "\\\"" } else { result.append(character) }
        }
        return result
    }
}
