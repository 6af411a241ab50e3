import PatchMedia

/// Lua's own messages in the shape that people get everywhere else: what is wrong, and what to do.
enum LuaMessages {
    /// Words of later versions, and what to do without them.
    static let laterWords: [String: String] = [
        "audio": "a wire carries a source's sound along as it is",
        "ffmpeg": "use a filter of `patchbay filters`, or a kernel",
        "io": "scripts read no files: use image{ file = … } and require", "dofile": "use require \"module\"",
        "loadfile": "use require \"module\"", "package": "use require \"module\"",
        "debug": "use log(…)", "warn": "use log(…)",
    ]

    static func reshape(_ message: String, at location: SourceLocation?) -> PatchError {
        var text = message
        var remedy = ""
        if text.contains(" near ") || text.hasPrefix("unfinished") {
            if !text.hasPrefix("syntax error") { text = "syntax error: " + text }
            if text.contains("expected (to close") {
                remedy = "a bracket or `end` is missing"
            } else if text.contains("near '<eof>'") || text.contains("near <eof>") {
                remedy = "the file ends too early: look for a missing `end`, bracket or quote"
            } else if text.contains("unexpected symbol") || text.contains("expected") {
                remedy = "look for a missing comma, bracket or `then` just before it"
            }
        } else if text.hasPrefix("attempt to perform bitwise operation") {
            text = "only nodes, ports and tables of them can be wired with >> (" + text + ")"
            remedy = "write source >> filter >> sink"
        } else if text.hasPrefix("attempt to perform arithmetic"), text.contains("userdata") || text.contains("control")
        {
            remedy = "a control or node is no number: use control.value in an onChange function"
        } else if text.hasPrefix("attempt to compare"), text.contains("nil") {
            remedy = "one side has no value: check its name"
        } else if text.hasPrefix("attempt to call a nil value (method") {
            remedy = "there is no such method"
        } else if text.hasPrefix("attempt to call a nil value") || text.hasPrefix("attempt to index a nil value") {
            remedy = "it has no value: check its name and that it was set before"
        } else if text.hasPrefix("attempt to call a") {
            remedy = "only functions and filters can be called"
        } else if text.hasPrefix("stack overflow") || text.contains("C stack overflow") {
            text = "functions call each other too deeply (stack overflow)"
            remedy = "look for a function that calls itself without an end"
        }
        return PatchError(.script, text, remedy: remedy, at: location)
    }
}
