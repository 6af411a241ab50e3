internal import CLua
import PatchFilters
import PatchGraph
import PatchMedia

/// Slots of mixers in motion: transitions and layouts.
extension GraphScript {
    /// `mix:transition("guest", { position = {0, 0}, size = {1280, 720} }, 0.5, "easeInOut")`: from where it is now.
    func transitionSlot(_ call: LuaCall) throws -> Int32 {
        let shape = "write mix:transition(\"guest\", { position = {0, 0} }, 0.5, \"easeInOut\")"
        guard let handle = call.handle(1), handle.tag == .node, model.mixers[handle.index] != nil else {
            throw call.error("transition is a method of mixers", shape)
        }
        let node = handle.index
        let name = try slotName(at: 2, of: node, call)
        guard call.kind(3) == .table else { throw call.error("transition goes to \(call.describe(3))", shape) }
        guard let seconds = call.number(4), seconds.isFinite, (0...86_400).contains(seconds) else {
            throw call.error("the transition's length is \(call.describe(4))", "give it seconds, from 0 to 86400")
        }
        let easing = try easing(at: 5, call)
        var change = SlotChange()
        for key in try call.keys(3).names {
            guard !["source", "mask", "blend"].contains(key) else {
                throw call.error("\(key) of a slot cannot be animated", "set it: mix.slots.\(name).\(key) = …")
            }
            call.pushField(3, key)
            defer { call.pop() }
            try read(key, of: name, node, into: &change, call)
        }
        animate(change.values, of: name, node, seconds, easing)
        return 0
    }

    /// Lets values go to where they are to be, those that can.
    private func animate(
        _ values: [(name: String, value: ParameterValue)], of slot: String, _ node: Int, _ seconds: Double,
        _ easing: Easing
    ) {
        for (field, value) in values {
            if case .constant(let floats) = value, seconds > 0, schema(field, of: node)?.isAnimatable == true {
                set(.ramp(to: floats, seconds: seconds, easing: easing), node: node, name: "\(slot).\(field)")
            } else {
                set(value, node: node, name: "\(slot).\(field)")
            }
        }
    }

    // MARK: Layouts

    /// `mix:layout("grid", { gap = 8, seconds = 0.5, easing = "easeInOut", slots = { "host", "guest" } })`
    func layoutSlots(_ call: LuaCall) throws -> Int32 {
        let shape = "write mix:layout(\"grid\", { gap = 8 })"
        guard let handle = call.handle(1), handle.tag == .node, let mixer = model.mixers[handle.index] else {
            throw call.error("layout is a method of mixers", shape)
        }
        let kinds = MixerArrangement.Kind.allCases.map(\.rawValue)
        guard let kind = call.string(2).flatMap({ MixerArrangement.Kind(rawValue: $0) }) else {
            throw call.error(
                "there is no layout \(call.describe(2))",
                call.string(2).flatMap { Spelling.nearest(to: $0, in: kinds) }.map { "did you mean \"\($0)\"?" }
                    ?? "it is one of \(kinds.joined(separator: ", "))")
        }
        var arrangement = MixerArrangement(kind, width: mixer.width, height: mixer.height)
        var names = mixer.slots.map(\.name)
        var (seconds, easing) = (0.0, Easing.linear)
        if !call.isAbsent(3) {
            guard call.kind(3) == .table else {
                throw call.error("the layout's options are \(call.describe(3))", shape)
            }
            let known = ["gap", "margin", "part", "corner", "slots", "seconds", "easing"]
            for key in try call.keys(3).names {
                call.pushField(3, key)
                defer { call.pop() }
                func number(_ range: ClosedRange<Double>) throws -> Double {
                    guard let number = call.number(-1), range.contains(number) else {
                        throw call.error(
                            "\(key) of the layout is \(call.describe(-1))",
                            "it goes from \(OptionText.number(range.lowerBound)) to \(OptionText.number(range.upperBound))"
                        )
                    }
                    return number
                }
                switch key {
                case "gap": arrangement.gap = try number(0...1000)
                case "margin": arrangement.margin = try number(0...1000)
                case "part": arrangement.part = try number(0.05...0.95)
                case "seconds": seconds = try number(0...86_400)
                case "easing": easing = try self.easing(at: -1, call)
                case "corner":
                    let corners = MixerArrangement.Corner.allCases.map(\.rawValue)
                    guard let corner = call.string(-1).flatMap({ MixerArrangement.Corner(rawValue: $0) }) else {
                        throw call.error(
                            "corner of the layout is \(call.describe(-1))",
                            "it is one of \(corners.joined(separator: ", "))")
                    }
                    arrangement.corner = corner
                case "slots":
                    guard call.kind(-1) == .table else {
                        throw call.error("slots of the layout is \(call.describe(-1))", shape)
                    }
                    let table = lua_gettop(call.pointer)
                    names = []
                    for position in 0..<min(MixerSchema.mostSlots, call.length(table)) {
                        call.pushElement(table, position + 1)
                        defer { call.pop() }
                        names.append(try slotName(at: -1, of: handle.index, call))
                    }
                default:
                    throw call.error(
                        "a layout has no '\(key)'",
                        Spelling.nearest(to: key, in: known).map { "did you mean '\($0)'?" }
                            ?? "it takes \(known.joined(separator: ", "))")
                }
            }
        }
        for (name, place) in zip(names, arrangement.places(names.count)) {
            animate(
                [
                    ("position", .constant([Float(place.x), Float(place.y)])),
                    ("size", .constant([Float(place.width), Float(place.height)])), ("z", .constant([Float(place.z)])),
                    ("visible", .constant([1])),
                ], of: name, handle.index, seconds, easing)
        }
        return 0
    }
}
