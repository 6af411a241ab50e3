internal import CLua
import PatchGraph
import PatchKernel
import PatchMedia

/// Operators on pixel values, and what kernels read their inputs and parameters with.
extension KernelLanguage {
    // MARK: Operators

    func definePixelOperators() {
        state.defineHandle(.pixel) { call in
            let operators: [(String, Operation, String)] = [
                ("__add", .add, "+"), ("__sub", .sub, "-"), ("__mul", .mul, "*"), ("__div", .div, "/"),
                ("__mod", .mod, "%"), ("__pow", .pow, "^"), ("__band", .and, "&"), ("__bor", .or, "|"),
            ]
            for (name, operation, sign) in operators {
                define(name) { language, call in
                    let a = try language.operand(1, of: sign, call)
                    let b = try language.operand(2, of: sign, call)
                    let value = try language.build(call) { builder throws(KernelError) in
                        do throws(KernelError) { return try builder.apply(operation, [a, b]) } catch {
                            throw KernelError(
                                error.code, "\(a.type.rawValue) \(sign) \(b.type.rawValue) does not exist",
                                remedy: operation == .and || operation == .or
                                    ? "both sides are conditions: lt(a, b) \(sign) gt(c, d)"
                                    : "make both one type, or one of them a float")
                        }
                    }
                    language.trace?.push(value, condition: value.type == .bool ? "a \(sign) b" : nil, call)
                    return 1
                }
            }
            define("__unm") { language, call in
                let a = try language.operand(1, of: "-", call)
                let value = try language.build(call) { builder throws(KernelError) in try builder.apply(.neg, [a]) }
                language.trace?.push(value, call)
                return 1
            }
            define("__bnot") { language, call in
                let a = try language.operand(1, of: "~", call)
                let value = try language.build(call) { builder throws(KernelError) in try builder.apply(.not, [a]) }
                language.trace?.push(value, condition: "~(…)", call)
                return 1
            }
            for (name, sign, word) in [("__lt", "<", "lt"), ("__le", "<=", "le"), ("__eq", "==", "eq")] {
                define(name) { _, call in
                    throw call.error(
                        "pixel values cannot be compared with \(sign): Lua makes a plain true or false of it",
                        "write \(word)(a, b)\(sign == "==" ? "" : " or \(word == "lt" ? "gt" : "ge")(a, b)"), and select(\(word)(a, b), x, y) for a choice",
                        code: .kernel)
                }
            }
            define("__idiv") { _, call in
                throw call.error("// does not work on pixel values", "write floor(a / b)", code: .kernel)
            }
            define("__bxor") { _, call in
                throw call.error("~ between two pixel values does not work", "write ne(a, b)", code: .kernel)
            }
            define("__len") { _, call in
                throw call.error(
                    "# does not work on pixel values", "write length(v) for a vector's length", code: .kernel)
            }
            define("__concat") { _, call in throw call.error("a pixel value is no text", code: .kernel) }
            define("__call") { _, call in
                throw call.error("a pixel value cannot be called", "a * is missing before the bracket", code: .kernel)
            }
            define("__shr") { _, call in
                throw call.error("pixel values cannot be wired", "multiply or divide by a power of two", code: .kernel)
            }
            define("__index") { language, call in
                let value = try language.operand(1, of: "a swizzle", call)
                guard let letters = call.string(2) else {
                    throw call.error(
                        "components have letters, not \(call.describe(2))", "write .r .g .b .a or .x .y .z .w",
                        code: .kernel)
                }
                let part = try language.build(call) { builder throws(KernelError) in try builder.swizzle(value, letters)
                }
                language.trace?.push(part, call)
                return 1
            }
            define("__newindex") { language, call in
                let name = call.string(2) ?? "r"
                throw call.error(
                    "'.\(name)' of a pixel value cannot be assigned",
                    "make a new one: c = vec4(…, c.g, c.b, c.a)", code: .kernel)
            }
            define("__tostring") { language, call in
                let type = call.handle(1).flatMap { language.trace?.value($0)?.type.rawValue } ?? "pixel"
                call.push("\(type) value")
                return 1
            }
        }
    }

    func defineReaders() {
        let call = LuaCall(state: state, pointer: state.pointer)
        func method(_ name: String, _ body: @escaping (KernelLanguage, LuaCall) throws -> Int32) {
            state.pushFunction(state.register { [unowned self] call in try body(self, call) })
            readerMethods[name] = call.keep()
        }
        method("at") { language, call in
            let input = try language.input(call, "at")
            guard let dx = call.integer(2), let dy = call.integer(3) else {
                let isPixel = call.handle(2)?.tag == .pixel || call.handle(3)?.tag == .pixel
                throw call.error(
                    "at takes two whole numbers, not \(call.describe(2)) and \(call.describe(3))",
                    isPixel ? "for computed positions write src:sample(uv)" : "write src:at(-1, 0)", code: .kernel)
            }
            let edge = try language.word(4, EdgeMode.self, default: .clamp, "edge", call)
            // The builder says what is too far; it need not see numbers that have no magnitude.
            func near(_ offset: Int) -> Int { max(-9999, min(9999, offset)) }
            let value = try language.build(call) { builder throws(KernelError) in
                try builder.tap(input, dx: near(dx), dy: near(dy), edge: edge)
            }
            language.trace?.push(value, call)
            return 1
        }
        method("sample") { language, call in
            let input = try language.input(call, "sample")
            let uv = try language.operand(2, of: "sample", call)
            let filter = try language.word(3, SampleFilter.self, default: .bilinear, "filter", call)
            let edge = try language.word(4, EdgeMode.self, default: .clamp, "edge", call)
            let value = try language.build(call) { builder throws(KernelError) in
                try builder.sample(input, at: uv, filter: filter, edge: edge)
            }
            language.trace?.push(value, call)
            return 1
        }
        state.defineHandle(.reader) { call in
            define("__index") { language, call in
                let input = try language.input(call, "an input")
                let name = call.string(2) ?? ""
                if name == "size" {
                    let value = try language.build(call) { builder throws(KernelError) in
                        builder.builtin(.inputSize(input))
                    }
                    language.trace?.push(value, call)
                    return 1
                }
                guard let method = language.readerMethods[name] else {
                    let isSwizzle = !name.isEmpty && name.allSatisfy { "rgbaxyzw".contains($0) }
                    throw call.error(
                        "an input has no '\(name)'",
                        isSwizzle
                            ? "read a pixel first: src:at(0, 0).\(name)"
                            : Spelling.nearest(to: name, in: ["at", "sample", "size"]).map { "did you mean '\($0)'?" }
                                ?? "it has at(dx, dy), sample(uv) and size", code: .kernel)
                }
                call.push(method)
                return 1
            }
            for name in ["__add", "__sub", "__mul", "__div", "__unm"] {
                define(name) { _, call in
                    throw call.error("an input is no pixel value", "read a pixel of it: src:at(0, 0)", code: .kernel)
                }
            }
            define("__newindex") { _, call in throw call.error("an input cannot be changed", code: .kernel) }
            define("__call") { _, call in
                throw call.error("an input cannot be called", "write src:at(dx, dy) or src:sample(uv)", code: .kernel)
            }
        }
        state.defineHandle(.parameters) { call in
            define("__index") { language, call in
                guard let trace = language.trace, let handle = call.handle(1), handle.c == trace.serial else {
                    throw language.outside("p", call)
                }
                let name = call.string(2) ?? call.describe(2)
                if let option = trace.options[name] {
                    call.push(option: option)
                    return 1
                }
                guard let index = trace.parameterNames.firstIndex(of: name) else {
                    throw call.error(
                        "the kernel has no parameter '\(name)'",
                        Spelling.nearest(to: name, in: trace.parameterNames).map { "did you mean '\($0)'?" }
                            ?? (trace.parameterNames.isEmpty
                                ? "declare it: params = { \(name) = { 0.5, min = 0, max = 1 } }"
                                : "it has \(trace.parameterNames.joined(separator: ", "))"),
                        code: .kernel)
                }
                var value: Value
                if let schemas = trace.soundParameters {
                    value = try language.build(call) { builder throws(KernelError) in
                        try SoundKernelBuilder.parameter(index, schemas, &builder)
                    }
                } else {
                    value = trace.builder.uniform(index)
                }
                if trace.colours.contains(name) {
                    let colour = value
                    value = try language.build(call) { builder throws(KernelError) in try builder.color(colour) }
                }
                trace.push(value, condition: value.type == .bool ? "p.\(name)" : nil, call)
                return 1
            }
            define("__newindex") { _, call in
                throw call.error("parameters cannot be set inside a kernel", "use a local variable", code: .kernel)
            }
        }
    }

    private func input(_ call: LuaCall, _ word: String) throws -> Int {
        guard let trace, let handle = call.handle(1), handle.tag == .reader, handle.c == trace.serial,
            handle.index < trace.inputCount
        else {
            throw call.error(
                "\(word) is a method of a kernel's inputs", "write src:\(word)(…) with a colon", code: .kernel)
        }
        return handle.index
    }

    private func word<W: RawRepresentable & CaseIterable>(
        _ index: Int32, _ type: W.Type, default fallback: W, _ what: String, _ call: LuaCall
    ) throws -> W where W.RawValue == String {
        if call.isAbsent(index) { return fallback }
        let names = W.allCases.map(\.rawValue)
        guard let name = call.string(index), let word = W(rawValue: name) else {
            throw call.error(
                "the \(what) is \(call.describe(index))", "it is one of \(names.joined(separator: ", "))", code: .kernel
            )
        }
        return word
    }
}
