/// Finds `c.r == 0.5` in a line: Lua answers it with false and asks nobody, so only the text tells.
enum PixelComparison {
    /// - Parameter plain: fields that are plain values, as static options are.
    static func find(in line: Substring, names: [String], plain: Set<String>) -> String? {
        let code = Array(line.utf8)
        var quote: UInt8?
        for i in code.indices {
            if let open = quote {
                if code[i] == open { quote = nil }
                continue
            }
            if code[i] == UInt8(ascii: "\"") || code[i] == UInt8(ascii: "'") {
                quote = code[i]
                continue
            }
            guard i + 1 < code.count else { break }
            if code[i] == UInt8(ascii: "-"), code[i + 1] == UInt8(ascii: "-") { break }
            guard code[i + 1] == UInt8(ascii: "="), code[i] == UInt8(ascii: "=") || code[i] == UInt8(ascii: "~") else {
                continue
            }
            if names.contains(word(endingBefore: i, code, plain))
                || names.contains(word(startingAt: i + 2, code, plain))
            {
                return code[i] == UInt8(ascii: "=") ? "==" : "~="
            }
        }
        return nil
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        LuaPattern.matches(byte, class: UInt8(ascii: "w")) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
    }

    /// The first name of `a.b.c` before a position; "" unless it has a field.
    private static func word(endingBefore end: Int, _ code: [UInt8], _ plain: Set<String>) -> String {
        var last = end - 1
        while last >= 0, code[last] == 0x20 { last -= 1 }
        var first = last
        while first >= 0, isWord(code[first]) { first -= 1 }
        return first < last ? head(code[(first + 1)...last], plain) : ""
    }

    private static func word(startingAt start: Int, _ code: [UInt8], _ plain: Set<String>) -> String {
        var first = start
        while first < code.count, code[first] == 0x20 { first += 1 }
        var last = first
        while last < code.count, isWord(code[last]) { last += 1 }
        return first < last ? head(code[first..<last], plain) : ""
    }

    private static func head(_ word: ArraySlice<UInt8>, _ plain: Set<String>) -> String {
        guard let dot = word.firstIndex(of: UInt8(ascii: ".")) else { return "" }
        if plain.contains(String(decoding: word[(dot + 1)...], as: UTF8.self)) { return "" }
        return String(decoding: word[..<dot], as: UTF8.self)
    }
}
