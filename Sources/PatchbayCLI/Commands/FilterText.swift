import Patchbay

/// A filter of the library for people and for programs.
enum FilterText {
    static func text(_ filter: KernelFilter) -> String {
        let word = filter.name.contains(".") ? filter.name : "filter." + filter.name
        var lines = ["\(word): \(filter.summary)"]
        if filter.ports.count > 1 { lines.append("inputs: \(filter.ports.joined(separator: ", "))") }
        for schema in filter.parameters {
            var line = "  \(schema.name) = \(CheckText.numbers(schema.defaultValue))\(range(schema))"
            if let neutral = schema.neutral { line += ", changes nothing at \(CheckText.numbers(neutral))" }
            if !schema.label.isEmpty { line += "  \(schema.label)" }
            lines.append(line)
        }
        return lines.joined(separator: "\n")
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
            ("ports", .array(filter.ports.map { .string($0) })),
            ("parameters", .array(filter.parameters.map(json))),
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
