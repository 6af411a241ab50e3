internal import CLua
import Glibc
import PatchGraph
import PatchMedia

/// `transition(a, b, seconds, kind)` and what drives transitions and zooms on air.
extension GraphScript {
    func installTransitions(_ call: LuaCall) {
        define("overlay") { script, call in try script.construct(filter: "filter.overlay", call) }
        defineMethod("start") { script, call in try script.drive("start", to: 1, call) }
        defineMethod("back") { script, call in try script.drive("back", to: 0, call) }
        defineMethod("switchTo") { script, call in try script.switchTo(call) }
        defineMethod("pinch") { script, call in try script.pinch(call) }
    }

    private static let shape = "write transition(a, b, 0.5, \"fade\")"

    /// `transition(a, b, seconds [, kind [, easing]])`: a transition node that begins to go from `a` to `b` at once.
    func makeTransition(_ call: LuaCall) throws -> Int32 {
        patch_remove(call.pointer, 1)
        lua_settop(call.pointer, 5)
        let from = try outputs(at: 1, call)
        let to = try outputs(at: 2, call)
        guard from.count == 1, to.count == 1 else {
            throw call.error("a transition goes from one node to one", Self.shape)
        }
        let seconds = try length(at: 3, call)
        let kinds = memberNames(of: "transition")
        let kind = call.isAbsent(4) ? "fade" : call.string(4) ?? ""
        guard let look = try look(named: "transition.\(kind)", call) else {
            throw call.error(
                "there is no transition \(call.describe(4))",
                Spelling.nearest(to: kind, in: kinds).map { "did you mean \"\($0)\"?" }
                    ?? "there are: \(kinds.sorted().joined(separator: ", "))")
        }
        let easing = try easing(at: 5, call)
        call.pushTable()
        let node = try makeNode(look, call, table: lua_gettop(call.pointer), name: nil)
        call.pop()
        for (port, end) in [from[0], to[0]].enumerated() {
            try connect(end, GraphModel.InputEnd(node: node, port: port), call)
        }
        set(.ramp(to: [1], seconds: seconds, easing: easing), node: node, name: "progress")
        pushShared(Handle(.node, node), call)
        return 1
    }

    private func length(at index: Int32, _ call: LuaCall) throws -> Double {
        guard let seconds = call.number(index), seconds.isFinite, (0...86_400).contains(seconds) else {
            throw call.error("the transition's length is \(call.describe(index))", "give it seconds, from 0 to 86400")
        }
        return seconds
    }

    /// The transition that a method is called on.
    private func transition(_ method: String, _ call: LuaCall) throws -> (node: Int, progress: ParameterSchema) {
        guard let handle = call.handle(1), handle.tag == .node, model.schemas[handle.index].ports.count >= 2,
            let progress = model.schemas[handle.index].parameters.first(where: { $0.name == "progress" })
        else {
            throw call.error(
                "\(method) is a method of transitions", "write local t = transition.fade{} … t:\(method)(…)")
        }
        return (handle.index, progress)
    }

    /// `t:start(seconds [, easing])` goes on to the second picture, `t:back(…)` to the first: from where it is now.
    private func drive(_ method: String, to target: Float, _ call: LuaCall) throws -> Int32 {
        let (node, _) = try transition(method, call)
        let seconds = try length(at: 2, call)
        set(
            .ramp(to: [target], seconds: seconds, easing: try easing(at: 3, call)), node: node, name: "progress")
        return 0
    }

    /// `t:switchTo(node, seconds [, easing])`: goes to any node. It takes the place of the picture that is seen less.
    private func switchTo(_ call: LuaCall) throws -> Int32 {
        let (node, progress) = try transition("switchTo", call)
        let ends = try outputs(at: 2, call)
        guard let end = ends.first, ends.count == 1 else {
            throw call.error("switchTo goes to one node", "write t:switchTo(cam, 0.5)")
        }
        let seconds = try length(at: 3, call)
        let easing = try easing(at: 4, call)
        let (from, to) = (id(end.node), id(node))
        func wire(_ port: Int) -> Wire? {
            model.patch.wires.first { $0.to == to && $0.port == port && $0.media != .audio }
        }
        let isSecondSeen = (currentFloats(node, progress).first ?? 0) >= 0.5
        // Where the node is wired already, the transition only goes there.
        let port = wire(0)?.from == from ? 0 : wire(1)?.from == from ? 1 : isSecondSeen ? 0 : 1
        if wire(port)?.from != from {
            model.patch.wires.removeAll { $0.to == to && $0.port == port && $0.media != .audio }
            try connect(end, GraphModel.InputEnd(node: node, port: port), call)
        }
        set(.ramp(to: [Float(port)], seconds: seconds, easing: easing), node: node, name: "progress")
        return 0
    }

    /// `zoom:pinch(velocity)`: factor' = clamp(factor + atan2(velocity, 15), 1, max).
    private func pinch(_ call: LuaCall) throws -> Int32 {
        guard let handle = call.handle(1), handle.tag == .node,
            let factor = model.schemas[handle.index].parameters.first(where: { $0.name == "factor" }),
            let range = factor.range
        else {
            throw call.error("pinch is a method of zooms", "write local z = filter.zoom{} … z:pinch(velocity)")
        }
        guard let velocity = call.number(2), velocity.isFinite else {
            throw call.error("the pinch's velocity is \(call.describe(2))", "give it a number, negative to zoom out")
        }
        let now = currentFloats(handle.index, factor).first ?? 1
        let next = max(max(1, range.lowerBound), min(range.upperBound, now + Float(atan2(velocity, 15))))
        set(.constant([next]), node: handle.index, name: "factor")
        call.push(Double(next))
        return 1
    }
}
