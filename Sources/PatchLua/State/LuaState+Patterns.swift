internal import CLua
import PatchMedia

/// string.find, match, gmatch and gsub.
extension LuaState {
    /// Sets the functions in the table on top of the stack.
    func installPatternFunctions() {
        setFunction("find") { try Self.findOrMatch($0, "string.find", isFind: true) }
        setFunction("match") { try Self.findOrMatch($0, "string.match", isFind: false) }
        let next = register { try Self.nextMatch($0) }
        setFunction("gmatch") { call in
            _ = try Self.text(call, 1, "string.gmatch")
            _ = try Self.text(call, 2, "string.gmatch")
            let start = try Self.start(call, 3, "string.gmatch")
            lua_settop(call.pointer, 2)
            call.push(start)
            call.push(-1)
            // Text, pattern, where to go on, where the last match ended.
            call.state.pushFunction(next, upvalues: 4, on: call.pointer)
            return 1
        }
        setFunction("gsub") { try Self.substitute($0) }
    }

    /// Makes sure that an argument is a text (numbers become one).
    private static func text(_ call: LuaCall, _ index: Int32, _ name: String) throws -> UnsafeBufferPointer<UInt8> {
        if call.kind(index) == .number { _ = patch_to_bytes(call.pointer, index, nil) }
        guard let bytes = call.withBytes(index, { $0 }) else {
            throw call.error("\(name): argument \(index) is \(call.describe(index)), not a text")
        }
        return bytes
    }

    /// The start argument as an offset from 0.
    private static func start(_ call: LuaCall, _ index: Int32, _ name: String) throws -> Int {
        if call.isAbsent(index) { return 0 }
        guard let position = call.integer(index) else {
            throw call.error("\(name): argument \(index) is \(call.describe(index)), not a whole number")
        }
        let length = call.length(1)
        if position > 0 { return position - 1 }
        return position == 0 ? 0 : max(0, length + max(position, -length))
    }

    private static func findOrMatch(_ call: LuaCall, _ name: String, isFind: Bool) throws -> Int32 {
        let subject = try text(call, 1, name)
        let pattern = try text(call, 2, name)
        let start = try start(call, 3, name)
        guard start <= subject.count else {
            call.pushNil()
            return 1
        }
        if isFind, call.isTrue(4) || LuaPattern.isPlain(pattern) {
            let found = try LuaPattern.findPlain(pattern, in: subject, from: start) { try call.checkTime() }
            guard let found else {
                call.pushNil()
                return 1
            }
            call.push(found.lowerBound + 1)
            call.push(found.upperBound)
            return 2
        }
        var matcher = LuaPattern(pattern, in: subject) { try call.checkTime() }
        guard let found = try guarded(call, name, { try matcher.find(from: start) }) else {
            call.pushNil()
            return 1
        }
        if isFind {
            call.push(found.lowerBound + 1)
            call.push(found.upperBound)
            return 2 + (try pushCaptures(call, matcher, subject, whole: nil, name))
        }
        return try pushCaptures(call, matcher, subject, whole: found, name)
    }

    private static func nextMatch(_ call: LuaCall) throws -> Int32 {
        let (first, second, third, fourth) = (patch_upvalue(2), patch_upvalue(3), patch_upvalue(4), patch_upvalue(5))
        guard let subject = call.withBytes(first, { $0 }), let pattern = call.withBytes(second, { $0 }),
            var position = call.integer(third), let last = call.integer(fourth)
        else { return 0 }
        var matcher = LuaPattern(pattern, in: subject) { try call.checkTime() }
        while position <= subject.count {
            let end = try guarded(call, "string.gmatch") { try matcher.match(at: position, patternStart: 0) }
            if let end, end != last {
                call.push(end)
                lua_copy(call.pointer, -1, third)
                lua_copy(call.pointer, -1, fourth)
                call.pop()
                return try pushCaptures(call, matcher, subject, whole: position..<end, "string.gmatch")
            }
            position += 1
        }
        return 0
    }

    private static func guarded<R>(_ call: LuaCall, _ name: String, _ body: () throws -> R) throws -> R {
        do { return try body() } catch let failure as LuaPattern.Failure {
            if failure.isBudget {
                throw call.error(
                    "\(name): \(failure.message)", "use fewer * and + in one pattern", code: .budget)
            }
            throw call.error("\(name): \(failure.message)", "write % before a character that stands for itself")
        }
    }

    /// Pushes all captures, or the whole match when there are none.
    private static func pushCaptures(
        _ call: LuaCall, _ matcher: LuaPattern, _ subject: UnsafeBufferPointer<UInt8>, whole: Range<Int>?,
        _ name: String
    ) throws -> Int32 {
        lua_checkstack(call.pointer, 40)
        if matcher.captures.isEmpty, let whole {
            call.push(bytes: UnsafeBufferPointer(rebasing: subject[whole]))
            return 1
        }
        for capture in matcher.captures { try push(capture, call, subject, name) }
        return Int32(matcher.captures.count)
    }

    private static func push(
        _ capture: LuaPattern.Capture, _ call: LuaCall, _ subject: UnsafeBufferPointer<UInt8>, _ name: String
    ) throws {
        guard let end = capture.end else {
            if capture.isUnfinished { throw call.error("\(name): a '(' in the pattern has no ')'") }
            call.push(capture.start + 1)
            return
        }
        call.push(bytes: UnsafeBufferPointer(rebasing: subject[capture.start..<end]))
    }

    private static func substitute(_ call: LuaCall) throws -> Int32 {
        let name = "string.gsub"
        let subject = try text(call, 1, name)
        let pattern = try text(call, 2, name)
        let kind = call.kind(3)
        guard [.string, .number, .table, .function].contains(kind) else {
            throw call.error("\(name): argument 3 is \(call.describe(3)), not a text, table or function")
        }
        if kind == .number { _ = patch_to_bytes(call.pointer, 3, nil) }
        let limit = call.isAbsent(4) ? Int.max : call.integer(4) ?? 0
        let isAnchored = pattern.first == UInt8(ascii: "^")
        var matcher = LuaPattern(pattern, in: subject) { try call.checkTime() }
        var result: [UInt8] = []
        let room = call.state.memoryLeft
        var (position, count, last) = (0, 0, -1)
        while count < limit {
            let end = try guarded(call, name) { try matcher.match(at: position, patternStart: isAnchored ? 1 : 0) }
            if let end, end != last {
                count += 1
                try appendReplacement(call, matcher, subject, position..<end, kind, to: &result)
                position = end
                last = end
            } else if position < subject.count {
                result.append(subject[position])
                position += 1
            } else {
                break
            }
            guard result.count < room else {
                throw call.error("\(name): the result does not fit into the script's memory", code: .budget)
            }
            if isAnchored { break }
        }
        if position < subject.count { result.append(contentsOf: subject[position...]) }
        result.withUnsafeBufferPointer { call.push(bytes: $0) }
        call.push(count)
        return 2
    }

    private static func appendReplacement(
        _ call: LuaCall, _ matcher: LuaPattern, _ subject: UnsafeBufferPointer<UInt8>, _ whole: Range<Int>,
        _ kind: LuaCall.Kind, to result: inout [UInt8]
    ) throws {
        let name = "string.gsub"
        switch kind {
        case .function:
            call.pushCopy(3)
            let arguments = try pushCaptures(call, matcher, subject, whole: whole, name)
            try call.call(arguments: Int(arguments), results: 1)
        case .table:
            if let first = matcher.captures.first {
                try push(first, call, subject, name)
            } else {
                call.push(bytes: UnsafeBufferPointer(rebasing: subject[whole]))
            }
            lua_rawget(call.pointer, 3)
        default:
            try call.withBytes(3) { template in
                var i = 0
                while i < template.count {
                    defer { i += 1 }
                    guard template[i] == UInt8(ascii: "%") else {
                        result.append(template[i])
                        continue
                    }
                    i += 1
                    let next = i < template.count ? template[i] : 0
                    switch next {
                    case UInt8(ascii: "%"): result.append(next)
                    case UInt8(ascii: "0"): result.append(contentsOf: subject[whole])
                    case 0x31...0x39:
                        let index = Int(next) - 0x31
                        if matcher.captures.isEmpty, index == 0 {
                            result.append(contentsOf: subject[whole])
                        } else if index < matcher.captures.count {
                            let capture = matcher.captures[index]
                            if let end = capture.end {
                                result.append(contentsOf: subject[capture.start..<end])
                            } else {
                                result.append(contentsOf: Array("\(capture.start + 1)".utf8))
                            }
                        } else {
                            throw call.error("\(name): %\(index + 1) in the replacement: there is no such capture")
                        }
                    default:
                        throw call.error("\(name): '%' in the replacement stands before a digit or another '%'")
                    }
                }
            }
            return
        }
        defer { call.pop() }
        if !call.isTrue(-1), call.kind(-1) == .null || call.kind(-1) == .bool {
            result.append(contentsOf: subject[whole])
            return
        }
        if call.kind(-1) == .number { _ = patch_to_bytes(call.pointer, -1, nil) }
        guard call.withBytes(-1, { result.append(contentsOf: $0) }) != nil else {
            throw call.error("\(name): the replacement is \(call.describe(-1)), not a text")
        }
    }
}

extension LuaCall {
    func checkTime() throws { try state.checkTime(on: pointer) }
}
