internal import CLua
import PatchGraph
import PatchMedia

/// `secret "NAME"`: texts that a script can pass on, join with others, and never see.
extension GraphScript {
    func installSecrets(_ call: LuaCall) {
        define("secret") { script, call in
            guard let name = call.string(1), !name.isEmpty else {
                throw call.error("secret takes a name, not \(call.describe(1))", "write secret \"PATCHBAY_URL\"")
            }
            guard let value = script.options.secret(name), !value.isEmpty else {
                if call.kind(2) == .table {
                    call.pushField(2, "optional")
                    if call.isTrue(-1) {
                        call.pushNil()
                        return 1
                    }
                }
                throw call.error(
                    "secret '\(name)' is not set",
                    name.hasPrefix("PATCHBAY_")
                        ? "set the environment variable \(name), or put \(name)=… into the secrets file"
                        : "put \(name)=… into the secrets file (the environment gives only names that begin with PATCHBAY_)",
                    code: .notFound)
            }
            return try script.push(Secret(value: value, redacted: "<secret \(name)>"), call)
        }
        state.defineHandle(.secret) { [unowned self] call in
            define("__concat") { script, call in
                let (left, right) = (try script.part(1, call), try script.part(2, call))
                return try script.push(
                    Secret(value: left.value + right.value, redacted: left.redacted + right.redacted), call)
            }
            define("__tostring") { script, call in
                call.push(script.model.secrets[call.handle(1)?.index ?? 0].redacted)
                return 1
            }
            define("__index") { _, call in
                throw call.error("a secret cannot be looked into", "pass it to the node that needs it")
            }
            define("__newindex") { _, call in throw call.error("a secret cannot be changed") }
            define("__len") { _, call in throw call.error("a secret does not tell its length") }
            // Comparing with guesses would tell it letter by letter.
            define("__lt") { _, call in throw call.error("a secret cannot be compared") }
            define("__le") { _, call in throw call.error("a secret cannot be compared") }
        }
    }

    func push(_ secret: Secret, _ call: LuaCall) throws -> Int32 {
        if let known = model.secrets.firstIndex(of: secret) {
            call.push(Handle(.secret, known))
            return 1
        }
        guard model.secrets.count < 1000, secret.value.utf8.count < 65_536 else {
            throw call.error("too many or too long secrets", "join them once, outside handlers", code: .budget)
        }
        model.secrets.append(secret)
        call.push(Handle(.secret, model.secrets.count - 1))
        return 1
    }

    private func part(_ index: Int32, _ call: LuaCall) throws -> Secret {
        if let handle = call.handle(index), handle.tag == .secret { return model.secrets[handle.index] }
        if let text = call.string(index) { return Secret(value: text, redacted: text) }
        if let number = call.number(index) {
            let text = OptionText.number(number)
            return Secret(value: text, redacted: text)
        }
        throw call.error("a secret cannot be joined with \(call.describe(index))", "join it with texts")
    }
}
