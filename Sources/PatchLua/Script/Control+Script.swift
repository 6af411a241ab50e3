import PatchGraph

/// What scripts and command lines may set a control to.
extension Control {
    /// Whether a value is of this control's form and within its range.
    func accepts(_ value: ControlValue) -> Bool {
        switch (form, value) {
        case (.number(let range, _, _), .number(let number)): range.contains(number)
        case (.toggle, .bool), (.button, .bool): true
        case (.choice(let options), .choice(let option)): options.contains(option)
        case (.color, .vector(let numbers)): numbers.count == 4 && numbers.allSatisfy { (0...1).contains($0) }
        case (.point, .vector(let numbers)): numbers.count == 2 && numbers.allSatisfy(\.isFinite)
        default: false
        }
    }

    /// A value as written on a command line; nil when it does not fit.
    package func parse(_ text: String) -> ControlValue? {
        let value: ControlValue?
        switch form {
        case .number: value = Double(text).map { .number($0) }
        case .toggle, .button:
            switch text.lowercased() {
            case "true", "on", "yes", "1": value = .bool(true)
            case "false", "off", "no", "0": value = .bool(false)
            default: value = nil
            }
        case .choice: value = .choice(text)
        case .color:
            let numbers = ScriptColor.parse(text) ?? text.split(separator: ",").compactMap { Double($0) }
            value = .vector(numbers.count == 3 ? numbers + [1] : numbers)
        case .point: value = .vector(text.split(separator: ",").compactMap { Double($0) })
        }
        guard let value, accepts(value) else { return nil }
        return value
    }

    /// What is legal, for people.
    var legalText: String {
        switch form {
        case .number(let range, _, let unit):
            "'\(name)' goes from \(OptionText.number(range.lowerBound)) to \(OptionText.number(range.upperBound))"
                + (unit.isEmpty ? "" : " " + unit)
        case .toggle: "'\(name)' is true or false"
        case .choice(let options): "'\(name)' is one of \(options.joined(separator: ", "))"
        case .button: "'\(name)' is a button: it has no value"
        case .color: "'\(name)' is a colour: #rrggbb"
        case .point: "'\(name)' is a point: x,y"
        }
    }
}
