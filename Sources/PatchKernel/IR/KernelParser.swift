extension Kernel {
    /// Reads the text form that `text` prints (see there). Blank lines and lines that begin with `#` are skipped.
    /// - Throws: `KernelError` of code `syntax` with the line's number, or what building such a kernel throws.
    public init(parsing text: String) throws(KernelError) {
        var parser = KernelParser()
        var number = 0
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            number += 1
            do throws(KernelError) {
                try parser.read(line)
            } catch {
                throw KernelError(error.code, "line \(number): \(error.message)", remedy: error.remedy)
            }
        }
        self = try parser.finish()
    }
}

/// Builds a kernel from lines of text; every line is checked as the builder checks calls.
struct KernelParser {
    private var header: (name: String, light: Light, alpha: Alpha, space: KernelSpace)?
    private var inputs: [InputDeclaration] = []
    private var uniforms: [UniformDeclaration] = []
    private var builder: KernelBuilder?
    private var values: [Value] = []
    private var result: Int?
    private var loopParameters: [Int: [Int: ValueType]] = [:]
    private var loops: Set<Int> = []

    private func malformed(_ what: String) -> KernelError { KernelError(.syntax, what) }

    mutating func read(_ line: Substring) throws(KernelError) {
        let words = try Self.words(line)
        guard let first = words.first, !first.hasPrefix("#") else { return }
        guard result == nil else { throw malformed("nothing may follow the result") }
        switch first {
        case "kernel":
            guard header == nil, words.count == 5 else {
                throw malformed("expected: kernel \"name\" space=… light=… alpha=…, once")
            }
            header = (
                words[1], try option(words[3], "light"), try option(words[4], "alpha"), try option(words[2], "space")
            )
        case "input":
            guard header != nil, builder == nil, words.count == 4 else {
                throw malformed("expected: input \"name\" light=… alpha=…, before the values")
            }
            inputs.append(
                InputDeclaration(
                    name: words[1], light: try option(words[2], "light"), alpha: try option(words[3], "alpha")))
        case "uniform":
            guard header != nil, builder == nil, words.count == 3 || words.count == 5,
                let type = ValueType(rawValue: words[2])
            else {
                throw malformed("expected: uniform \"name\" type, or with lowest and highest value, before the values")
            }
            var range: ClosedRange<Float>?
            if words.count == 5 {
                guard let low = Float(words[3]), let high = Float(words[4]), low <= high, low.isFinite, high.isFinite,
                    type == .float || type.isVector
                else { throw malformed("'\(words[3]) \(words[4])' is no range of a float or vector") }
                range = low...high
            }
            uniforms.append(UniformDeclaration(name: words[1], type: type, range: range))
        case "result":
            guard words.count == 2 else { throw malformed("expected: result %n") }
            result = try value(words[1]).index
        default:
            try readValue(words)
        }
    }

    private func option<T: RawRepresentable<String>>(_ word: String, _ key: String) throws(KernelError) -> T {
        guard word.hasPrefix(key + "="), let value = T(rawValue: String(word.dropFirst(key.count + 1))) else {
            throw malformed("'\(word)' is no \(key)=…")
        }
        return value
    }

    private func value(_ word: String) throws(KernelError) -> Value {
        guard word.hasPrefix("%"), let number = Int(word.dropFirst()), values.indices.contains(number) else {
            throw malformed("'\(word)' is no earlier value")
        }
        return values[number]
    }

    private func int(_ word: String?) throws(KernelError) -> Int {
        guard let word, let number = Int(word), Swift.abs(number) <= 1_000_000 else {
            throw malformed("'\(word ?? "")' is no small whole number")
        }
        return number
    }

    private mutating func readValue(_ words: [String]) throws(KernelError) {
        guard let header else { throw malformed("expected a kernel line first") }
        var b =
            builder
            ?? KernelBuilder(
                name: header.name, inputs: inputs, uniforms: uniforms, light: header.light, alpha: header.alpha,
                space: header.space)
        builder = nil
        guard words.count >= 5, words[0] == "%\(values.count)", words[1] == "=", words[words.count - 2] == ":",
            let type = ValueType(rawValue: words[words.count - 1])
        else { throw malformed("expected: %\(values.count) = operation operands : type") }
        let operands = words[3..<(words.count - 2)]
        var immediates: [String] = []
        var arguments: [Value] = []
        for operand in operands {
            if operand.hasPrefix("%") {
                arguments.append(try value(operand))
            } else {
                guard arguments.isEmpty else { throw malformed("'\(operand)' stands behind the arguments") }
                immediates.append(operand)
            }
        }
        let made = try make(words[2], immediates, arguments, type, &b)
        guard made.type == type else {
            throw malformed("'\(words[2])' gives \(made.type.rawValue) here, not \(type.rawValue)")
        }
        values.append(made)
        builder = b
    }

    private mutating func make(
        _ word: String, _ immediates: [String], _ arguments: [Value], _ type: ValueType, _ b: inout KernelBuilder
    ) throws(KernelError) -> Value {
        func immediate(_ index: Int) -> String? { immediates.indices.contains(index) ? immediates[index] : nil }
        func need(_ immediateCount: Int, _ argumentCount: Int) throws(KernelError) {
            guard immediates.count == immediateCount, arguments.count == argumentCount else {
                throw malformed("'\(word)' has the wrong number of operands")
            }
        }
        func input(_ index: Int) throws(KernelError) -> Int {
            let number = try int(immediate(index))
            guard inputs.indices.contains(number) else { throw KernelError(.name, "there is no input \(number)") }
            return number
        }
        switch word {
        case "float":
            try need(1, 0)
            let text = immediates[0]
            if text.hasPrefix("bits="), let bits = UInt32(text.dropFirst(5)) {
                return b.constant(Float(bitPattern: bits))
            }
            guard let number = Float(text) else { throw malformed("'\(text)' is no number") }
            return b.constant(number)
        case "int":
            try need(1, 0)
            guard let number = Int32(immediates[0]) else { throw malformed("'\(immediates[0])' is no int") }
            return b.constant(number)
        case "bool":
            try need(1, 0)
            guard let flag = Bool(immediates[0]) else { throw malformed("'\(immediates[0])' is no bool") }
            return b.constant(flag)
        case "uniform":
            try need(1, 0)
            let index = try int(immediates[0])
            guard uniforms.indices.contains(index) else { throw KernelError(.name, "there is no uniform \(index)") }
            return b.uniform(index)
        case "current":
            try need(1, 0)
            return b.current(try input(0))
        case "tap":
            try need(4, 0)
            guard let edge = EdgeMode(rawValue: immediates[3]) else { throw malformed("'\(immediates[3])' is no edge") }
            return try b.tap(try input(0), dx: try int(immediate(1)), dy: try int(immediate(2)), edge: edge)
        case "sample":
            try need(3, 1)
            guard let filter = SampleFilter(rawValue: immediates[1]), let edge = EdgeMode(rawValue: immediates[2])
            else { throw malformed("'\(immediates[1]) \(immediates[2])' is no filter and edge") }
            return try b.sample(try input(0), at: arguments[0], filter: filter, edge: edge)
        case "position", "uv", "size", "time", "frame", "pixelHash":
            try need(0, 0)
            let builtins: [String: Builtin] = [
                "position": .position, "uv": .uv, "size": .size, "time": .time, "frame": .frame, "pixelHash": .hash,
            ]
            return b.builtin(builtins[word] ?? .position)
        case "inputSize":
            try need(1, 0)
            return b.builtin(.inputSize(try input(0)))
        case "construct":
            try need(0, arguments.count)
            return try b.construct(type, arguments)
        case "swizzle":
            try need(1, 1)
            return try b.swizzle(arguments[0], immediates[0])
        case "select":
            try need(0, 3)
            return try b.select(arguments[0], arguments[1], arguments[2])
        case "loopParameter", "loop", "loopResult": return try makeLoop(word, immediates, arguments, type, &b)
        default: break
        }
        if let conversion = Conversion(rawValue: word) {
            try need(0, 1)
            guard arguments[0].type == .vec4 else { throw KernelError(.type, "\(word) takes a vec4") }
            return b.convert(arguments[0], conversion)
        }
        guard let operation = Operation(rawValue: word) else { throw malformed("'\(word)' is no operation") }
        try need(0, arguments.count)
        return try b.apply(operation, arguments)
    }

    private mutating func makeLoop(
        _ word: String, _ immediates: [String], _ arguments: [Value], _ type: ValueType, _ b: inout KernelBuilder
    ) throws(KernelError) -> Value {
        let first = try int(immediates.first)
        guard first >= 0, first < 10_000 else { throw malformed("loop numbers are 0 to 9999") }
        switch word {
        case "loopParameter":
            guard immediates.count == 2, arguments.isEmpty, !loops.contains(first) else {
                throw malformed("expected: loopParameter loop index, before the loop")
            }
            let index = try int(immediates[1])
            guard index >= -1, index < 1000, index >= 0 || type == .int else {
                throw malformed("'\(index)' is no carried value")
            }
            loopParameters[first, default: [:]][index] = type
            b.loopCount = max(b.loopCount, first + 1)
            return b.intern(.loopParameter(loop: first, index: index), [], type)
        case "loop":
            let limit = try int(immediates.count == 2 ? immediates[1] : nil)
            let count = (arguments.count - 1) / 2
            guard (1...KernelBuilder.loopLimit).contains(limit), arguments.count >= 3, arguments.count % 2 == 1,
                arguments[count].type == .bool, loops.insert(first).inserted,
                arguments[..<count].map(\.type) == arguments[(count + 1)...].map(\.type)
            else { throw malformed("expected: loop number limit, initial values, condition, next values") }
            for (index, type) in loopParameters[first] ?? [:] where index >= 0 {
                guard index < count, arguments[index].type == type else {
                    throw malformed("loop \(first) carries no \(type.rawValue) \(index)")
                }
            }
            b.loopCount = max(b.loopCount, first + 1)
            return b.intern(.loop(first, limit: limit), arguments.map(\.index), .bool)
        default:
            guard immediates.count == 1, arguments.count == 1, case .loop = b.nodes[arguments[0].index].kind else {
                throw malformed("expected: loopResult index %loop")
            }
            let carried = b.nodes[arguments[0].index].arguments
            guard first < (carried.count - 1) / 2 else { throw malformed("the loop carries no value \(first)") }
            return b.intern(.loopResult(first), [arguments[0].index], b.nodes[carried[first]].type)
        }
    }

    func finish() throws(KernelError) -> Kernel {
        guard var builder, let result else { throw malformed("the kernel has no result") }
        let kernel = try builder.finish(Value(index: result, type: builder.nodes[result].type))
        let structure = kernel.loopStructure
        let open = kernel.nodes.contains { node in
            if case .loopParameter(let loop, _) = node.kind { return !loops.contains(loop) }
            return false
        }
        guard structure.isWellFormed, structure.owner[kernel.result] == nil, !open else {
            throw malformed("a loop's values are used outside the loop")
        }
        return kernel
    }

    /// Words between spaces; a quoted string is one word.
    private static func words(_ line: Substring) throws(KernelError) -> [String] {
        var words: [String] = []
        var current: String?
        var isQuoted = false
        var isEscaped = false
        for character in line.unicodeScalars {
            if isQuoted {
                if isEscaped {
                    current?.unicodeScalars.append(character == "n" ? "\n" : character)
                    isEscaped = false
                } else if character == "\\" {
                    isEscaped = true
                } else if character == "\"" {
                    isQuoted = false
                    words.append(current ?? "")
                    current = nil
                } else {
                    current?.unicodeScalars.append(character)
                }
            } else if character == "\"" {
                guard current == nil else { throw KernelError(.syntax, "a quote inside a word") }
                current = ""
                isQuoted = true
            } else if character == " " || character == "\t" || character == "\r" {
                if let word = current { words.append(word) }
                current = nil
            } else {
                current = current ?? ""
                current?.unicodeScalars.append(character)
            }
        }
        guard !isQuoted else { throw KernelError(.syntax, "a string without its end") }
        if let word = current { words.append(word) }
        return words
    }
}
