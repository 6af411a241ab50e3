import Patchbay

/// A check's report for people and for programs.
enum CheckText {
    static func text(_ report: CheckReport) -> String {
        let registry = report.registry
        var lines: [String] = []
        let plan = report.plan
        let nodes = count(report.patch.nodes.count, "node", "nodes")
        lines.append("\(nodes), \(count(plan.passes.count, "pass", "passes")), \(plan.rate) frames/s")
        for node in report.patch.nodes {
            let place = node.location.map { "  (\($0))" } ?? ""
            lines.append("\(node.id): \(node.kind)\(place)")
            let inputs = report.patch.wires.filter { $0.to == node.id }
            let ports = ports(of: node, registry)
            for wire in inputs {
                let port = ports.count > 1 && wire.port < ports.count ? " (\(ports[wire.port]))" : ""
                lines.append("  from \(wire.from)\(port)\(wire.media == .audio ? ", sound only" : "")")
            }
            for schema in parameters(of: node, registry) { lines.append("  \(parameter(schema, of: node))") }
        }
        if !report.patch.controls.isEmpty {
            lines.append("controls (--set NAME=VALUE):")
            for control in report.patch.controls { lines.append("  \(Self.control(control))") }
        }
        lines.append(plan.passesText)
        lines.append("estimated cost: \(StatusText.fixed(cost(plan), 1)) ms a frame on one core, encoders apart")
        for note in plan.notes { lines.append("note: \(note)") }
        for node in report.patch.nodes where !node.isNamed && isStateful(node, registry) {
            let place = node.location.map { "\($0): " } ?? ""
            lines.append("note: \(place)'\(node.id)' has no name of its own, so a reload may restart it")
        }
        return lines.joined(separator: "\n")
    }

    private static func count(_ number: Int, _ one: String, _ many: String) -> String {
        "\(number) \(number == 1 ? one : many)"
    }

    static func json(_ report: CheckReport) -> JSON {
        let registry = report.registry
        let nodes = report.patch.nodes.map { node -> JSON in
            .object([
                ("node", .string(node.id)), ("kind", .string(node.kind)), ("isNamed", .bool(node.isNamed)),
                ("file", .text(node.location?.file)), ("line", node.location.map { .integer($0.line) } ?? .null),
                ("ports", .array(ports(of: node, registry).map { .string($0) })),
                ("parameters", .array(parameters(of: node, registry).map(json))),
            ])
        }
        let wires = report.patch.wires.map { wire -> JSON in
            .object([
                ("from", .string(wire.from)), ("to", .string(wire.to)), ("port", .integer(wire.port + 1)),
                ("media", .string(wire.media.rawValue)),
            ])
        }
        let passes = report.plan.passes.map { pass -> JSON in
            let format = report.plan.slots[pass.output]
            return .object([
                ("nodes", .array(pass.nodes.map { .string($0) })), ("writes", .string(format.description)),
                ("endsBecause", .string(pass.reason)), ("milliseconds", .number(cost(pass, report.plan))),
            ])
        }
        return .object([
            ("ok", .bool(true)), ("errors", .array([])),
            ("notes", .array(report.plan.notes.map { .string($0.description) })),
            ("fps", .number(report.plan.rate.perSecond)), ("nodes", .array(nodes)), ("wires", .array(wires)),
            ("controls", .array(report.patch.controls.map(json))), ("passes", .array(passes)),
            ("milliseconds", .number(cost(report.plan))),
        ])
    }

    // MARK: Nodes

    private static func parameters(of node: PatchNode, _ registry: NodeRegistry) -> [ParameterSchema] {
        switch node.body {
        case .kernels(let filter): filter.parameters
        case .sound(let kernel): kernel.parameters
        case .registered: registry[node.kind]?.schema.parameters ?? []
        }
    }

    private static func ports(of node: PatchNode, _ registry: NodeRegistry) -> [String] {
        switch node.body {
        case .kernels(let filter): filter.ports
        case .sound: ["audio"]
        case .registered: registry[node.kind]?.schema.ports ?? []
        }
    }

    private static func isStateful(_ node: PatchNode, _ registry: NodeRegistry) -> Bool {
        guard case .registered = node.body else { return false }
        return registry[node.kind]?.schema.role != .filter
    }

    private static func parameter(_ schema: ParameterSchema, of node: PatchNode) -> String {
        let value = node.parameters[schema.name].map(Self.value) ?? numbers(schema.defaultValue)
        return "\(schema.name) = \(value)" + FilterText.range(schema)
    }

    private static func value(_ value: ParameterValue) -> String {
        switch value {
        case .constant(let floats): numbers(floats)
        case .control(let name): "control '\(name)'"
        case .ramp(let target, let seconds, _): "ramp to \(numbers(target)) in \(seconds) s"
        case .oscillation(let wave): "\(wave.wave.rawValue) of \(wave.frequency) Hz around \(wave.center)"
        case .keyframes(let keys, _): "\(keys.count) keyframes"
        }
    }

    static func numbers(_ floats: [Float]) -> String {
        floats.map { $0 == $0.rounded() && abs($0) < 1e6 ? "\(Int($0))" : "\($0)" }.joined(separator: ", ")
    }

    private static func json(_ schema: ParameterSchema) -> JSON { FilterText.json(schema) }

    // MARK: Controls

    private static func control(_ control: Control) -> String {
        let form =
            switch control.form {
            case .number(let range, _, let unit):
                "\(range.lowerBound)…\(range.upperBound)" + (unit.isEmpty ? "" : " \(unit)")
            case .toggle: "true or false"
            case .choice(let names): names.joined(separator: ", ")
            case .button: "a button"
            case .color: "a colour"
            case .point: "a point"
            }
        return "\(control.name) = \(text(control.defaultValue)): \(form)"
            + (control.label == control.name ? "" : ", \(control.label)")
    }

    private static func text(_ value: ControlValue) -> String {
        switch value {
        case .number(let number): "\(number)"
        case .bool(let bool): "\(bool)"
        case .choice(let name): name
        case .vector(let numbers): numbers.map { "\($0)" }.joined(separator: ", ")
        }
    }

    private static func json(_ control: Control) -> JSON {
        var members: [(String, JSON)] = [("name", .string(control.name)), ("label", .string(control.label))]
        switch control.form {
        case .number(let range, _, let unit):
            members += [
                ("form", .string("number")), ("min", .number(range.lowerBound)), ("max", .number(range.upperBound)),
                ("unit", .string(unit)),
            ]
        case .toggle: members.append(("form", .string("toggle")))
        case .choice(let names):
            members += [("form", .string("choice")), ("choices", .array(names.map { .string($0) }))]
        case .button: members.append(("form", .string("button")))
        case .color: members.append(("form", .string("color")))
        case .point: members.append(("form", .string("point")))
        }
        switch control.defaultValue {
        case .number(let number): members.append(("default", .number(number)))
        case .bool(let bool): members.append(("default", .bool(bool)))
        case .choice(let name): members.append(("default", .string(name)))
        case .vector(let numbers): members.append(("default", .array(numbers.map { .number($0) })))
        }
        return .object(members)
    }

    // MARK: Cost

    private static func cost(_ plan: Plan) -> Double { plan.passes.reduce(0) { $0 + cost($1, plan) } }

    /// Milliseconds on one core: pixels times kernel values, at the 20 values a nanosecond that a core with AVX2 does
    /// of cheap ones (measured with colour chains at 1080p).
    private static func cost(_ pass: PlanPass, _ plan: Plan) -> Double {
        let format = plan.slots[pass.output]
        return Double(format.width * format.height * pass.compiled.description.kernel.valueCount) / 20e6
    }
}
