/// Lua 5.4's patterns (reference manual, section 6.4.1), with a budget: a pattern that backtracks without an end stops.
///
/// Thread-safety: one thread.
struct LuaPattern {
    /// A capture: bytes `start..<end` of the subject, or a position (`end` nil).
    struct Capture {
        var start: Int
        /// nil for a position capture.
        var end: Int?
        fileprivate var isOpen = false
        /// Its closing bracket is missing.
        var isUnfinished: Bool { isOpen }
    }

    struct Failure: Error {
        var message: String
        var isBudget = false
    }

    /// Single steps of one call; about half a second's worth.
    static let stepLimit = 20_000_000
    private static let depthLimit = 200
    private static let captureLimit = 32
    private static let escape = UInt8(ascii: "%")

    private let subject: UnsafeBufferPointer<UInt8>
    private let pattern: UnsafeBufferPointer<UInt8>
    /// Called every few thousand steps; throws to stop.
    private let checkTime: () throws -> Void
    private(set) var captures: [Capture] = []
    private var steps = 0
    private var depth = 0

    init(
        _ pattern: UnsafeBufferPointer<UInt8>, in subject: UnsafeBufferPointer<UInt8>,
        checkTime: @escaping () throws -> Void
    ) {
        self.pattern = pattern
        self.subject = subject
        self.checkTime = checkTime
    }

    /// Whether a text has no magic characters, so that it matches only itself.
    static func isPlain(_ pattern: UnsafeBufferPointer<UInt8>) -> Bool {
        !pattern.contains { "^$*+?.([%-".utf8.contains($0) }
    }

    /// Matches at the first place from `start` on. `isAnchored` patterns (`^` in front, to be skipped by this) only there.
    /// - Returns: where the match begins and ends.
    mutating func find(from start: Int) throws -> Range<Int>? {
        let isAnchored = pattern.first == UInt8(ascii: "^")
        var position = start
        while position <= subject.count {
            if let end = try match(at: position, patternStart: isAnchored ? 1 : 0) { return position..<end }
            if isAnchored { return nil }
            position += 1
        }
        return nil
    }

    /// Matches exactly at `position`.
    mutating func match(at position: Int, patternStart: Int) throws -> Int? {
        captures.removeAll(keepingCapacity: true)
        depth = 0
        return try match(position, patternStart)
    }

    /// Searches for `needle` as plain text, stopping in time however long both are.
    static func findPlain(
        _ needle: UnsafeBufferPointer<UInt8>, in text: UnsafeBufferPointer<UInt8>, from start: Int,
        checkTime: () throws -> Void
    ) throws -> Range<Int>? {
        if needle.isEmpty { return start..<start }
        guard text.count - start >= needle.count else { return nil }
        var work = 0
        var position = start
        while position <= text.count - needle.count {
            var length = 0
            while length < needle.count, text[position + length] == needle[length] { length += 1 }
            if length == needle.count { return position..<position + length }
            work += length + 1
            if work > 1 << 16 {
                try checkTime()
                work = 0
            }
            position += 1
        }
        return nil
    }

    private mutating func step() throws {
        steps += 1
        guard steps & 4095 == 0 else { return }
        guard steps < Self.stepLimit else {
            throw Failure(message: "the pattern takes too long on this text", isBudget: true)
        }
        try checkTime()
    }

    // MARK: The matcher

    private mutating func match(_ subjectStart: Int, _ patternStart: Int) throws -> Int? {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthLimit else { throw Failure(message: "the pattern is too complex") }
        var s = subjectStart
        var p = patternStart
        while true {
            try step()
            guard p < pattern.count else { return s }
            switch pattern[p] {
            case UInt8(ascii: "("):
                let isPosition = p + 1 < pattern.count && pattern[p + 1] == UInt8(ascii: ")")
                return try openCapture(s, isPosition ? p + 2 : p + 1, isPosition: isPosition)
            case UInt8(ascii: ")"):
                return try closeCapture(s, p + 1)
            case UInt8(ascii: "$") where p + 1 == pattern.count:
                return s == subject.count ? s : nil
            case Self.escape where p + 1 < pattern.count && pattern[p + 1] == UInt8(ascii: "b"):
                guard let end = try matchBalanced(s, p + 2) else { return nil }
                s = end
                p += 4
                continue
            case Self.escape where p + 1 < pattern.count && pattern[p + 1] == UInt8(ascii: "f"):
                p += 2
                guard p < pattern.count, pattern[p] == UInt8(ascii: "[") else {
                    throw Failure(message: "missing '[' after '%f' in the pattern")
                }
                let end = try itemEnd(p)
                let before = s > 0 ? subject[s - 1] : 0
                let after = s < subject.count ? subject[s] : 0
                guard try !matchesSet(before, p, end - 1), try matchesSet(after, p, end - 1) else { return nil }
                p = end
                continue
            case Self.escape where p + 1 < pattern.count && (0x30...0x39).contains(pattern[p + 1]):
                guard let end = try matchBackReference(s, pattern[p + 1]) else { return nil }
                s = end
                p += 2
                continue
            default: break
            }
            let end = try itemEnd(p)
            switch end < pattern.count ? pattern[end] : 0 {
            case UInt8(ascii: "?"):
                if try matchesOne(s, p, end), let result = try match(s + 1, end + 1) { return result }
                p = end + 1
            case UInt8(ascii: "+"):
                guard try matchesOne(s, p, end) else { return nil }
                return try matchGreedy(s + 1, p, end)
            case UInt8(ascii: "*"):
                return try matchGreedy(s, p, end)
            case UInt8(ascii: "-"):
                return try matchLazy(s, p, end)
            default:
                guard try matchesOne(s, p, end) else { return nil }
                s += 1
                p = end
            }
        }
    }

    private mutating func matchGreedy(_ s: Int, _ p: Int, _ end: Int) throws -> Int? {
        var count = 0
        while try matchesOne(s + count, p, end) {
            count += 1
            try step()
        }
        while count >= 0 {
            if let result = try match(s + count, end + 1) { return result }
            count -= 1
        }
        return nil
    }

    private mutating func matchLazy(_ start: Int, _ p: Int, _ end: Int) throws -> Int? {
        var s = start
        while true {
            if let result = try match(s, end + 1) { return result }
            guard try matchesOne(s, p, end) else { return nil }
            s += 1
        }
    }

    private mutating func openCapture(_ s: Int, _ p: Int, isPosition: Bool) throws -> Int? {
        guard captures.count < Self.captureLimit else { throw Failure(message: "too many captures in the pattern") }
        captures.append(Capture(start: s, end: nil, isOpen: !isPosition))
        let level = captures.count
        if let result = try match(s, p) { return result }
        captures.removeLast(captures.count - level + 1)
        return nil
    }

    private mutating func closeCapture(_ s: Int, _ p: Int) throws -> Int? {
        guard let index = captures.lastIndex(where: { $0.isOpen }) else {
            throw Failure(message: "a ')' in the pattern has no '('")
        }
        captures[index].end = s
        captures[index].isOpen = false
        if let result = try match(s, p) { return result }
        captures[index].end = nil
        captures[index].isOpen = true
        return nil
    }

    private func matchBackReference(_ s: Int, _ digit: UInt8) throws -> Int? {
        let index = Int(digit) - 0x31
        guard captures.indices.contains(index), let end = captures[index].end else {
            throw Failure(message: "the pattern refers to capture %\(index + 1), which is not closed")
        }
        let length = end - captures[index].start
        guard subject.count - s >= length else { return nil }
        for i in 0..<length where subject[captures[index].start + i] != subject[s + i] { return nil }
        return s + length
    }

    private func matchBalanced(_ s: Int, _ p: Int) throws -> Int? {
        guard p + 1 < pattern.count else { throw Failure(message: "'%b' in the pattern needs two characters") }
        guard s < subject.count, subject[s] == pattern[p] else { return nil }
        let (open, close) = (pattern[p], pattern[p + 1])
        var nesting = 1
        for i in (s + 1)..<max(s + 1, subject.count) {
            if subject[i] == close {
                nesting -= 1
                if nesting == 0 { return i + 1 }
            } else if subject[i] == open {
                nesting += 1
            }
        }
        return nil
    }

    // MARK: Single items

    /// Where the item (character, class or set) that begins at `p` ends.
    private func itemEnd(_ p: Int) throws -> Int {
        if pattern[p] == Self.escape {
            guard p + 1 < pattern.count else { throw Failure(message: "the pattern ends with '%'") }
            return p + 2
        }
        guard pattern[p] == UInt8(ascii: "[") else { return p + 1 }
        var i = p + 1
        if i < pattern.count, pattern[i] == UInt8(ascii: "^") { i += 1 }
        // A ']' in first place stands for itself.
        repeat {
            guard i < pattern.count else { throw Failure(message: "missing ']' in the pattern") }
            i += pattern[i] == Self.escape ? 2 : 1
        } while i >= pattern.count || pattern[i] != UInt8(ascii: "]")
        return i + 1
    }

    private func matchesOne(_ s: Int, _ p: Int, _ end: Int) throws -> Bool {
        guard s < subject.count else { return false }
        switch pattern[p] {
        case UInt8(ascii: "."): return true
        case Self.escape: return Self.matches(subject[s], class: pattern[p + 1])
        case UInt8(ascii: "["): return try matchesSet(subject[s], p, end - 1)
        default: return pattern[p] == subject[s]
        }
    }

    /// `p` is at '[', `last` at ']'.
    private func matchesSet(_ byte: UInt8, _ p: Int, _ last: Int) throws -> Bool {
        var i = p + 1
        var found = true
        if i < last, pattern[i] == UInt8(ascii: "^") {
            found = false
            i += 1
        }
        while i < last {
            if pattern[i] == Self.escape, i + 1 < last + 1 {
                if Self.matches(byte, class: pattern[i + 1]) { return found }
                i += 2
            } else if i + 2 < last, pattern[i + 1] == UInt8(ascii: "-") {
                if pattern[i] <= byte && byte <= pattern[i + 2] { return found }
                i += 3
            } else {
                if pattern[i] == byte { return found }
                i += 1
            }
        }
        return !found
    }

    static func matches(_ byte: UInt8, class letter: UInt8) -> Bool {
        let isLetter = (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        let isDigit = (0x30...0x39).contains(byte)
        let belongs: Bool
        switch letter | 0x20 {
        case UInt8(ascii: "a"): belongs = isLetter
        case UInt8(ascii: "c"): belongs = byte < 0x20 || byte == 0x7F
        case UInt8(ascii: "d"): belongs = isDigit
        case UInt8(ascii: "g"): belongs = (0x21...0x7E).contains(byte)
        case UInt8(ascii: "l"): belongs = (0x61...0x7A).contains(byte)
        case UInt8(ascii: "p"): belongs = (0x21...0x7E).contains(byte) && !isLetter && !isDigit
        case UInt8(ascii: "s"): belongs = byte == 0x20 || (0x09...0x0D).contains(byte)
        case UInt8(ascii: "u"): belongs = (0x41...0x5A).contains(byte)
        case UInt8(ascii: "w"): belongs = isLetter || isDigit
        case UInt8(ascii: "x"):
            belongs = isDigit || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
        default: return letter == byte
        }
        guard (0x41...0x5A).contains(letter) || (0x61...0x7A).contains(letter) else { return letter == byte }
        return (0x41...0x5A).contains(letter) ? !belongs : belongs
    }
}
