/// Lets a wire stand alone on a line: `cam >> look >> view`.
///
/// Lua has no statements that are mere expressions, so a script's text gets `_ = ` in front of each one whose first part
/// is followed by `>>`. Nothing else changes, and no line moves, so errors keep their places.
package enum WireStatements {
    /// The text as Lua takes it.
    package static func completed(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let tokens = LuaTokens.read(bytes)
        let closing = tokens.closingBrackets()
        var result: [UInt8] = []
        var copied = 0
        for index in tokens.indices {
            guard let prefix = prefix(at: index, tokens, closing) else { continue }
            result += bytes[copied..<tokens[index].start]
            result += prefix.utf8
            copied = tokens[index].start
        }
        guard copied > 0 || !result.isEmpty else { return text }
        result += bytes[copied...]
        return String(decoding: result, as: UTF8.self)
    }

    /// What goes in front of the token that begins a wire statement; nil for every other token.
    private static func prefix(at index: Int, _ tokens: [LuaTokens.Token], _ closing: [Int?]) -> String? {
        let token = tokens[index]
        let previous = index > 0 ? tokens[index - 1] : nil
        switch token.kind {
        case .name:
            guard previous.map({ $0.endsStatement }) ?? true else { return nil }
        case .symbol("("): guard previous?.isBlockStart ?? true else { return nil }
        case .symbol("{"):
            // After a value this is a call, unless a new line makes it look like a new statement.
            guard previous.map({ $0.isBlockStart || $0.endsStatement && $0.line < token.line }) ?? true else {
                return nil
            }
        default: return nil
        }
        guard let end = endOfSuffixedExpression(from: index, tokens, closing), end < tokens.count,
            tokens[end].kind == .symbol(">>")
        else { return nil }
        return token.kind == .name ? "_ = " : "; _ = "
    }

    /// The index after `name.field:method{…}[…](…)` or after a table or parenthesis; nil when a bracket never closes.
    private static func endOfSuffixedExpression(
        from start: Int, _ tokens: [LuaTokens.Token], _ closing: [Int?]
    ) -> Int? {
        var next = start + 1
        switch tokens[start].kind {
        case .symbol("{"): return closing[start].map { $0 + 1 }
        case .symbol("("):
            guard let close = closing[start] else { return nil }
            next = close + 1
        default: break
        }
        while next < tokens.count {
            switch tokens[next].kind {
            case .symbol("."), .symbol(":"): next += 2
            case .string: next += 1
            case .symbol("["), .symbol("("), .symbol("{"):
                guard let close = closing[next] else { return nil }
                let end = close + 1
                let isWire = end < tokens.count && tokens[end].kind == .symbol(">>")
                if isWire, tokens[next].kind == .symbol("{"), tokens[next].line > tokens[next - 1].line { return next }
                next = end
            default: return next
            }
        }
        return next
    }
}

/// Lua's words and signs, as far as `WireStatements` has to tell them apart. Lua 5.4's manual, section 3.1.
enum LuaTokens {
    struct Token {
        enum Kind: Equatable {
            case name
            case keyword(String)
            case number
            case string
            case symbol(String)
        }
        var kind: Kind
        /// Byte offset.
        var start: Int
        var line: Int

        /// A name after it begins a new statement: values never stand side by side in Lua.
        var endsStatement: Bool {
            switch kind {
            case .name, .number, .string: true
            case .keyword(let word): ["nil", "true", "false", "end", "break"].contains(word) || isBlockStart
            case .symbol(let sign): [")", "]", "}", "...", ";"].contains(sign)
            }
        }
        var isBlockStart: Bool {
            switch kind {
            case .keyword(let word): ["do", "then", "else", "repeat"].contains(word)
            case .symbol(let sign): sign == ";"
            default: false
            }
        }
    }

    private static let keywords: Set<String> = [
        "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil",
        "not", "or", "repeat", "return", "then", "true", "until", "while",
    ]

    /// All tokens; text that is not Lua gives some tokens too, and Lua itself says what is wrong with it.
    static func read(_ bytes: [UInt8]) -> [Token] {
        var tokens: [Token] = []
        var at = 0
        var line = 1
        func byte(_ offset: Int) -> UInt8 { offset < bytes.count ? bytes[offset] : 0 }
        func isWord(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: "_") || (byte | 32 >= UInt8(ascii: "a") && byte | 32 <= UInt8(ascii: "z"))
                || (byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9"))
        }
        func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
        /// The number of `=` between two opening brackets; nil when there is no long bracket here.
        func longBracket(_ offset: Int) -> Int? {
            guard byte(offset) == UInt8(ascii: "[") else { return nil }
            var level = 0
            while byte(offset + 1 + level) == UInt8(ascii: "=") { level += 1 }
            return byte(offset + 1 + level) == UInt8(ascii: "[") ? level : nil
        }
        func skipLong(_ level: Int) {
            at += level + 2
            while at < bytes.count {
                if bytes[at] == UInt8(ascii: "\n") { line += 1 }
                if bytes[at] == UInt8(ascii: "]"), byte(at + level + 1) == UInt8(ascii: "]"),
                    (0..<level).allSatisfy({ byte(at + 1 + $0) == UInt8(ascii: "=") })
                {
                    at += level + 2
                    return
                }
                at += 1
            }
        }
        func add(_ kind: Token.Kind, _ start: Int, _ startLine: Int) {
            tokens.append(Token(kind: kind, start: start, line: startLine))
        }
        if byte(0) == UInt8(ascii: "#") { while at < bytes.count, bytes[at] != UInt8(ascii: "\n") { at += 1 } }
        while at < bytes.count {
            let (start, startLine, first) = (at, line, bytes[at])
            switch first {
            case UInt8(ascii: "\n"):
                line += 1
                at += 1
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): at += 1
            case UInt8(ascii: "-") where byte(at + 1) == UInt8(ascii: "-"):
                at += 2
                if let level = longBracket(at) {
                    skipLong(level)
                } else {
                    while at < bytes.count, bytes[at] != UInt8(ascii: "\n") { at += 1 }
                }
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                at += 1
                while at < bytes.count, bytes[at] != first, bytes[at] != UInt8(ascii: "\n") {
                    if bytes[at] == UInt8(ascii: "\\") {
                        at += 1
                        if byte(at) == UInt8(ascii: "\n") { line += 1 }
                    }
                    at += 1
                }
                at += 1
                add(.string, start, startLine)
            case _ where longBracket(at) != nil:
                skipLong(longBracket(at) ?? 0)
                add(.string, start, startLine)
            case _ where isDigit(first) || (first == UInt8(ascii: ".") && isDigit(byte(at + 1))):
                let isHex = first == UInt8(ascii: "0") && byte(at + 1) | 32 == UInt8(ascii: "x")
                while isWord(byte(at)) || byte(at) == UInt8(ascii: ".") {
                    let exponent = byte(at) | 32 == UInt8(ascii: isHex ? "p" : "e")
                    at += 1
                    if exponent, byte(at) == UInt8(ascii: "+") || byte(at) == UInt8(ascii: "-") { at += 1 }
                }
                add(.number, start, startLine)
            case _ where isWord(first):
                while isWord(byte(at)) { at += 1 }
                let word = String(decoding: bytes[start..<at], as: UTF8.self)
                add(keywords.contains(word) ? .keyword(word) : .name, start, startLine)
            default:
                let pairs = [">>", "<<", "//", "==", "~=", "<=", ">=", "::"]
                let two = String(decoding: bytes[at..<min(at + 2, bytes.count)], as: UTF8.self)
                var sign = pairs.contains(two) ? two : String(decoding: [first], as: UTF8.self)
                if first == UInt8(ascii: ".") {
                    while byte(start + sign.utf8.count) == first, sign.utf8.count < 3 { sign += "." }
                }
                at += sign.utf8.count == 0 ? 1 : (first < 128 ? sign.utf8.count : 1)
                add(.symbol(sign), start, startLine)
            }
        }
        return tokens
    }
}

extension [LuaTokens.Token] {
    /// For each opening bracket the index of the one that closes it; nil for everything else.
    fileprivate func closingBrackets() -> [Int?] {
        var result = [Int?](repeating: nil, count: count)
        var open: [Int] = []
        for index in indices {
            switch self[index].kind {
            case .symbol("("), .symbol("["), .symbol("{"): open.append(index)
            case .symbol(")"), .symbol("]"), .symbol("}"): if let start = open.popLast() { result[start] = index }
            default: break
            }
        }
        return result
    }
}
