internal import CLua

/// A Lua value that is only data: what `state` carries from one Lua state to the next.
///
/// Thread-safety: a value.
indirect enum PlainValue: Hashable, Sendable {
    case bool(Bool)
    case integer(Int)
    case number(Double)
    case bytes([UInt8])
    case table([Entry])

    struct Entry: Hashable, Sendable {
        var key: PlainValue
        var value: PlainValue
    }

    /// Entries that one `state` may carry.
    static let limit = 100_000

    /// Reads the value at `index`. Functions, handles, and tables inside themselves are left out; so is what goes beyond
    /// 32 levels or `limit` entries.
    static func read(_ call: LuaCall, _ index: Int32) -> PlainValue? {
        var budget = limit
        return read(call, index, depth: 0, budget: &budget)
    }

    private static func read(_ call: LuaCall, _ index: Int32, depth: Int, budget: inout Int) -> PlainValue? {
        budget -= 1
        guard budget > 0, depth < 32 else { return nil }
        switch call.kind(index) {
        case .bool: return .bool(call.isTrue(index))
        case .number:
            if call.isIntegerSubtype(index) { return .integer(Int(patch_to_integer(call.pointer, index))) }
            return call.number(index).map { .number($0) }
        case .string: return call.withBytes(index) { .bytes(Array($0)) }
        case .table:
            var entries: [Entry] = []
            try? call.forEach(index) {
                if let key = read(call, -2, depth: depth + 1, budget: &budget),
                    let value = read(call, -1, depth: depth + 1, budget: &budget)
                {
                    entries.append(Entry(key: key, value: value))
                }
            }
            return .table(entries)
        default: return nil
        }
    }

    func push(_ call: LuaCall) {
        lua_checkstack(call.pointer, 8)
        switch self {
        case .bool(let bool): call.push(bool)
        case .integer(let integer): call.push(integer)
        case .number(let number): call.push(number)
        case .bytes(let bytes): bytes.withUnsafeBufferPointer { call.push(bytes: $0) }
        case .table(let entries):
            call.pushTable()
            for entry in entries {
                if case .number(let number) = entry.key, number.isNaN { continue }
                entry.key.push(call)
                entry.value.push(call)
                lua_rawset(call.pointer, -3)
            }
        }
    }
}
