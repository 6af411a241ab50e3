internal import CLua
import PatchGraph
import PatchMedia

/// `node:command("hqdn3d", "luma_spatial", 6)`: tells a guest something while it runs.
extension GraphScript {
    func command(_ call: LuaCall) throws -> Int32 {
        let example = "write node:command(\"hqdn3d\", \"luma_spatial\", 6)"
        guard let handle = call.handle(1), handle.tag == .node else {
            throw call.error("command is a method of nodes", example)
        }
        let title = title(node: handle.index)
        guard model.schemas[handle.index].takesCommands else {
            throw call.error("\(title) takes no commands", "set its parameters: node.name = value")
        }
        guard !isLoading else {
            throw call.error(
                "\(title) is not on air yet", "write the value in its constructor, or command it in a handler")
        }
        guard let target = call.string(2), let name = call.string(3) else {
            throw call.error("command needs the filter's and the option's name", example)
        }
        let argument: String
        if let number = call.number(4) {
            argument = OptionText.number(number)
        } else if let text = call.string(4) {
            argument = text
        } else {
            throw call.error("command needs a value, not \(call.describe(4))", example)
        }
        edits.append(.command(node: handle.index, target: target, name: name, argument: argument))
        return 0
    }

    /// `clip:play()`
    func play(_ call: LuaCall) throws -> Int32 {
        guard let handle = call.handle(1), handle.tag == .node else {
            throw call.error("play is a method of clips", "write clip:play()")
        }
        let title = title(node: handle.index)
        guard model.schemas[handle.index].kind == "clip" else {
            throw call.error("\(title) does not wait to be played", "only a clip does: clip{ \"name\", file = … }")
        }
        guard !isLoading else { throw call.error("\(title) is not on air yet", "play it in a handler") }
        edits.append(.command(node: handle.index, target: "", name: "play", argument: ""))
        return 0
    }
}
