/// Makes `cam >> filter.invert{} >> view` a statement of its own.
///
/// Lua takes only calls and assignments as statements. So before a graph file is compiled, each statement that begins
/// with an operand of `>>` gets an assignment in front, on the same line: `__wire=cam >> …`. Everything else stays as it
/// is, and lines keep their numbers.
enum WireStatements {
    /// What the assignment is to; the sealed globals swallow it.
    static let name = "__wire"

    static func rewrite(_ text: String) -> String {
        let bytes = Array(text.utf8)
        guard text.contains(">>") else { return text }
        let tokens = Lexer(bytes).tokens()
        var result: [UInt8] = []
        var copied = 0
        for index in tokens.indices where beginsStatement(index, tokens) {
            guard let end = operandEnd(index, tokens), end < tokens.count, tokens[end].kind == .symbol(">>") else {
                continue
            }
            result += bytes[copied..<tokens[index].start]
            result += Array((name + "=").utf8)
            copied = tokens[index].start
        }
        guard copied > 0 || !result.isEmpty else { return text }
        result += bytes[copied...]
        return String(decoding: result, as: UTF8.self)
    }

    struct Token {
        enum Kind: Equatable {
            case name
            case keyword(String)
            /// Texts and numbers.
            case literal(isText: Bool)
            case symbol(String)
        }
        var kind: Kind
        var start: Int
        var line: Int
    }

    private static let openers: Set<String> = ["then", "do", "else", "repeat"]
    private static let values: Set<String> = ["end", "nil", "true", "false", "break"]

    private static func beginsStatement(_ index: Int, _ tokens: [Token]) -> Bool {
        let token = tokens[index]
        guard token.kind == .name || token.kind == .symbol("{") || token.kind == .symbol("(") else { return false }
        guard index > 0 else { return true }
        let before = tokens[index - 1]
        if token.kind == .symbol("(") {
            // After an expression a bracket is always a call.
            if case .keyword(let word) = before.kind { return openers.contains(word) }
            return before.kind == .symbol(";")
        }
        // After a complete expression a name can only begin the next statement; a table could still be the argument of a
        // call, unless it begins a line.
        let isClear = token.kind == .name || token.line > before.line
        switch before.kind {
        case .keyword(let word): return openers.contains(word) || word == "end" || values.contains(word) && isClear
        case .symbol(";"): return true
        case .symbol(")"), .symbol("]"), .symbol("}"), .symbol("..."), .symbol("::"): return isClear
        case .name, .literal: return isClear
        case .symbol: return false
        }
    }

    /// The index of the token after the operand that begins at `index`: a name or table with fields, calls and indices.
    private static func operandEnd(_ index: Int, _ tokens: [Token]) -> Int? {
        var i = index + 1
        if tokens[index].kind == .symbol("{") {
            guard let end = balancedEnd(index, tokens) else { return nil }
            i = end
            // A table cannot be called or indexed.
            return i
        }
        if tokens[index].kind == .symbol("(") {
            guard let end = balancedEnd(index, tokens) else { return nil }
            i = end
        }
        while i < tokens.count {
            switch tokens[i].kind {
            case .symbol("."), .symbol(":"):
                guard i + 1 < tokens.count, tokens[i + 1].kind == .name else { return nil }
                i += 2
            case .symbol("("), .symbol("["), .symbol("{"):
                // A table that begins a line is a statement of its own, not an argument.
                if tokens[i].kind == .symbol("{"), tokens[i].line > tokens[i - 1].line { return i }
                guard let end = balancedEnd(i, tokens) else { return nil }
                i = end
            case .literal(isText: true): i += 1
            default: return i
            }
        }
        return i
    }

    private static func balancedEnd(_ index: Int, _ tokens: [Token]) -> Int? {
        var depth = 0
        for i in index..<tokens.count {
            switch tokens[i].kind {
            case .symbol("("), .symbol("["), .symbol("{"): depth += 1
            case .symbol(")"), .symbol("]"), .symbol("}"):
                depth -= 1
                if depth == 0 { return i + 1 }
            default: break
            }
        }
        return nil
    }

    /// Splits Lua text into tokens. Malformed text gives some tokens; Lua itself then says what is wrong.
    private struct Lexer {
        let bytes: [UInt8]
        private var position = 0
        private var line = 1

        private static let keywords: Set<String> = [
            "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local",
            "nil",
            "not", "or", "repeat", "return", "then", "true", "until", "while",
        ]

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        private func byte(_ offset: Int = 0) -> UInt8 {
            position + offset < bytes.count ? bytes[position + offset] : 0
        }

        func tokens() -> [Token] {
            var lexer = self
            var tokens: [Token] = []
            while let token = lexer.next() { tokens.append(token) }
            return tokens
        }

        private mutating func next() -> Token? {
            skipBlanks()
            guard position < bytes.count else { return nil }
            let (start, startLine) = (position, line)
            let first = byte()
            let kind: Token.Kind
            if isWord(first), !(0x30...0x39).contains(first) {
                while isWord(byte()) { position += 1 }
                let word = String(decoding: bytes[start..<position], as: UTF8.self)
                kind = Self.keywords.contains(word) ? .keyword(word) : .name
            } else if (0x30...0x39).contains(first) || first == UInt8(ascii: ".") && (0x30...0x39).contains(byte(1)) {
                while isWord(byte()) || byte() == UInt8(ascii: ".")
                    || (byte() == UInt8(ascii: "-") || byte() == UInt8(ascii: "+"))
                        && [UInt8(ascii: "e"), UInt8(ascii: "E")].contains(bytes[position - 1])
                {
                    position += 1
                }
                kind = .literal(isText: false)
            } else if first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") {
                skipQuoted(first)
                kind = .literal(isText: true)
            } else if first == UInt8(ascii: "["), let level = longBracket() {
                skipLong(level)
                kind = .literal(isText: true)
            } else {
                let pairs = [">>", "<<", "::", "==", "~=", "<=", ">=", "//", ".."]
                var length = 1
                if byte() == 0x2E, byte(1) == 0x2E, byte(2) == 0x2E {
                    length = 3
                } else if pairs.contains(where: { Array($0.utf8) == [byte(), byte(1)] }) {
                    length = 2
                }
                position = min(bytes.count, position + length)
                kind = .symbol(String(decoding: bytes[start..<position], as: UTF8.self))
            }
            return Token(kind: kind, start: start, line: startLine)
        }

        private func isWord(_ byte: UInt8) -> Bool {
            LuaPattern.matches(byte, class: UInt8(ascii: "w")) || byte == UInt8(ascii: "_") || byte >= 0x80
        }

        private mutating func skipBlanks() {
            while position < bytes.count {
                if byte() == 0x0A {
                    line += 1
                    position += 1
                } else if byte() <= 0x20 {
                    position += 1
                } else if byte() == UInt8(ascii: "-"), byte(1) == UInt8(ascii: "-") {
                    position += 2
                    if byte() == UInt8(ascii: "["), let level = longBracket() {
                        skipLong(level)
                    } else {
                        while position < bytes.count, byte() != 0x0A { position += 1 }
                    }
                } else if position == 0, byte() == UInt8(ascii: "#") {
                    while position < bytes.count, byte() != 0x0A { position += 1 }
                } else {
                    return
                }
            }
        }

        private mutating func skipQuoted(_ quote: UInt8) {
            position += 1
            while position < bytes.count, byte() != quote, byte() != 0x0A {
                position += byte() == UInt8(ascii: "\\") ? 2 : 1
            }
            position = min(bytes.count, position + 1)
        }

        /// The number of = in a long bracket that begins here; nil when none does.
        private func longBracket() -> Int? {
            var level = 0
            while byte(1 + level) == UInt8(ascii: "=") { level += 1 }
            return byte(1 + level) == UInt8(ascii: "[") ? level : nil
        }

        private mutating func skipLong(_ level: Int) {
            position += level + 2
            while position < bytes.count {
                if byte() == 0x0A { line += 1 }
                if byte() == UInt8(ascii: "]"), byte(level + 1) == UInt8(ascii: "]"),
                    (0..<level).allSatisfy({ byte(1 + $0) == UInt8(ascii: "=") })
                {
                    position += level + 2
                    return
                }
                position += 1
            }
        }
    }
}

/// `WireStatements` for tests.
package enum WireSyntax {
    package static func rewrite(_ text: String) -> String { WireStatements.rewrite(text) }
}
