import Patchbay

/// A filter of the library for people and for programs.
enum FilterText {
    static func text(_ filter: KernelFilter, source: String?) -> String {
        var lines = ["\(word(filter)): \(filter.summary)", ""]
        let explanation = explanation(in: source)
        if !explanation.isEmpty { lines += explanation + [""] }
        if filter.ports.count > 1 {
            let ports = filter.ports.enumerated().map { filter.portDefaults[$0] == nil ? $1 : "\($1) (optional)" }
            lines.append("inputs: \(ports.joined(separator: ", "))")
        }
        if !filter.parameters.isEmpty { lines.append("parameters, may change on air:") }
        for schema in filter.parameters {
            var line = "  \(schema.name) = \(CheckText.numbers(schema.defaultValue))\(range(schema))"
            if let neutral = schema.neutral { line += ", changes nothing at \(CheckText.numbers(neutral))" }
            if !schema.label.isEmpty { line += "  \(schema.label)" }
            lines.append(line)
        }
        let options = options(filter)
        if !options.isEmpty { lines.append("options, fixed when the node is made:") }
        lines += options.map { "  \($0.name): \($0.text)" }
        lines += ["", "example:", "  \(example(filter))"]
        return lines.joined(separator: "\n")
    }

    /// How scripts call it.
    static func word(_ filter: KernelFilter) -> String {
        filter.name.contains(".") ? filter.name : "filter." + filter.name
    }

    /// The comment at the head of the filter's file: formula, working light, alpha, what lies beyond the ranges.
    private static func explanation(in source: String?) -> [String] {
        (source ?? "").split(separator: "\n", omittingEmptySubsequences: false).prefix { $0.hasPrefix("--") }.map {
            "  " + $0.dropFirst($0.hasPrefix("-- ") ? 3 : 2)
        }
    }

    private static func options(_ filter: KernelFilter) -> [(name: String, text: String)] {
        var options = filter.options.map { schema in
            (schema.name, schema.isRequired ? "must be given" : "\(schema.defaultText) unless given")
        }
        switch filter.sizing {
        case .input: break
        case .optional: options.append(("size", "\"WxH\" of the result; the first input's unless given"))
        case .required: options.append(("size", "\"WxH\" of the result; must be given"))
        }
        return options
    }

    /// A line for a graph: sources into the ports, one parameter away from its default.
    private static func example(_ filter: KernelFilter) -> String {
        var fields: [String] = []
        if filter.sizing == .required { fields.append("size = \"1280x720\"") }
        for schema in filter.options where schema.isRequired { fields.append("\(schema.name) = \"FILE\"") }
        if let schema = filter.parameters.first(where: { $0.form == .float }) ?? filter.parameters.first {
            var value = schema.defaultValue
            if let range = schema.range, schema.defaultValue == schema.neutral, range.upperBound.isFinite {
                value = value.map { $0 + (range.upperBound - $0) / 4 }
            }
            let text: String =
                switch schema.form {
                case .bool: value[0] != 0 ? "true" : "false"
                case .float: CheckText.numbers(value)
                default: "{ " + value.map { CheckText.numbers([$0]) }.joined(separator: ", ") + " }"
                }
            fields.append("\(schema.name) = \(text)")
        }
        let call = "\(word(filter)) {\(fields.isEmpty ? "" : " \(fields.joined(separator: ", ")) ")}"
        let needed = filter.ports.enumerated().filter { filter.portDefaults[$0.offset] == nil }.map(\.element)
        return needed.count > 1
            ? "{ \(needed.joined(separator: ", ")) } >> \(call) >> view" : "cam >> \(call) >> view"
    }

    /// `  (-1…1 px)`
    static func range(_ schema: ParameterSchema) -> String {
        guard let range = schema.range else { return schema.unit.isEmpty ? "" : "  (\(schema.unit))" }
        let unit = schema.unit.isEmpty ? "" : " \(schema.unit)"
        return "  (\(CheckText.numbers([range.lowerBound]))…\(CheckText.numbers([range.upperBound]))\(unit))"
    }

    static func json(_ filters: [KernelFilter], _ catalog: FilterCatalog) -> JSON {
        .array(filters.map { json($0, catalog) })
    }

    static func json(_ filter: KernelFilter, _ catalog: FilterCatalog) -> JSON {
        .object([
            ("name", .string(filter.name)), ("family", .text(catalog.category(filter.name))),
            ("summary", .string(filter.summary)),
            (
                "explanation",
                .string(explanation(in: catalog.source(filter.name)).map { $0.dropFirst(2) }.joined(separator: "\n"))
            ),
            ("example", .string(example(filter))),
            ("ports", .array(filter.ports.map { .string($0) })),
            ("optionalPorts", .array(filter.portDefaults.keys.sorted().map { .string(filter.ports[$0]) })),
            ("parameters", .array(filter.parameters.map(json))),
            (
                "options",
                .array(options(filter).map { .object([("name", .string($0.name)), ("summary", .string($0.text))]) })
            ),
        ])
    }

    static func json(_ schema: ParameterSchema) -> JSON {
        let floats = { (values: [Float]) in JSON.array(values.map { .number(Double($0)) }) }
        return .object([
            ("name", .string(schema.name)), ("form", .string(schema.form.rawValue)),
            ("label", .string(schema.label)), ("unit", .string(schema.unit)),
            ("default", floats(schema.defaultValue)),
            ("min", schema.range.map { .number(Double($0.lowerBound)) } ?? .null),
            ("max", schema.range.map { .number(Double($0.upperBound)) } ?? .null),
            ("neutral", schema.neutral.map(floats) ?? .null), ("animatable", .bool(schema.isAnimatable)),
        ])
    }
}
