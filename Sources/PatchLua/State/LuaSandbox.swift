internal import CLua
import PatchMedia

/// Runs a text in a fresh sandbox: what tests of the sandbox use.
package enum LuaSandbox {
    /// Runs `text` and gives its first result as text.
    /// - Throws: `PatchError` with file and line.
    package static func evaluate(
        _ text: String, name: String = "test.lua", limits: ScriptLimits = ScriptLimits()
    ) throws -> String {
        let state = try LuaState(limits: limits)
        try state.load(text, name: name)
        try state.run(results: 1, seconds: limits.loading)
        let call = LuaCall(state: state, pointer: state.pointer)
        switch call.kind(-1) {
        case .string: return call.string(-1) ?? ""
        case .number: return OptionText.number(call.number(-1) ?? 0)
        default: return call.describe(-1)
        }
    }
}
