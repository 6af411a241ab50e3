import Patchbay

/// Readers for values on the command line.
extension Arguments {
    /// Seconds: "10", "2.5s", "500ms", "3m", "1h" or "1:30" and "1:02:03"; above 0, at most a year.
    func seconds(_ name: String) throws -> Double? {
        guard let text = value(name) else { return nil }
        guard let seconds = Self.seconds(text), seconds > 0, seconds <= 31_536_000 else {
            throw PatchError(
                .usage, "--\(name) '\(text)' is not a length of time",
                remedy: "write seconds (10, 2.5s, 500ms), minutes (3m), hours (1h) or h:mm:ss (1:30), above 0")
        }
        return seconds
    }

    private static func seconds(_ text: String) -> Double? {
        if text.contains(":") {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count <= 3 else { return nil }
            var total = 0.0
            for (index, part) in parts.enumerated() {
                guard let number = number(part), index == 0 || number < 60 else { return nil }
                total = total * 60 + number
            }
            return total
        }
        for (suffix, factor) in [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600)] where text.hasSuffix(suffix) {
            return number(text.dropLast(suffix.count)).map { $0 * factor }
        }
        return number(text[...])
    }

    /// A plain decimal number; Swift alone would also take "nan", "inf" and hexadecimal.
    private static func number(_ text: Substring) -> Double? {
        guard let first = text.first, first.isNumber || first == ".", text.allSatisfy({ $0.isNumber || $0 == "." })
        else { return nil }
        return Double(text)
    }

    /// "0,1" or "2-5,8": numbers of cores; none where the option is not given.
    func cores(_ name: String) throws -> [Int] {
        guard let text = value(name) else { return [] }
        var cores: [Int] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
            guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1], first >= 0,
                first <= last, last < 1024
            else {
                throw PatchError(
                    .usage, "--\(name) '\(text)' names no cores", remedy: "write numbers and ranges, such as 0,1 or 2-5"
                )
            }
            cores += first...last
        }
        try Affinity.check(cores)
        return cores
    }

    /// "1280x720", each side 1…16384.
    func size(_ name: String) throws -> (width: Int, height: Int)? {
        guard let text = value(name) else { return nil }
        let sides = text.lowercased().split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        let legal = 1...VideoFormat.maximumSide
        guard sides.count == 2, let width = sides[0], let height = sides[1], legal ~= width, legal ~= height else {
            throw PatchError(
                .usage, "--\(name) '\(text)' is not a size",
                remedy: "write WIDTHxHEIGHT, such as 1280x720, each side 1…\(VideoFormat.maximumSide)")
        }
        return (width, height)
    }

    /// "30", "29.97" or "30000/1001".
    func rate(_ name: String) throws -> FrameRate? {
        guard let text = value(name) else { return nil }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        if parts.count == 2, let above = Int64(parts[0]), let below = Int64(parts[1]), above > 0, below > 0,
            (1...1000).contains(above / below)
        {
            return FrameRate(above, over: below)
        }
        guard parts.count == 1, let fps = Self.number(parts[0]), (1...1000).contains(fps),
            let rate = FrameRate(approximating: fps)
        else {
            throw PatchError(
                .usage, "--\(name) '\(text)' is not a frame rate",
                remedy: "write frames a second, such as 30, 29.97 or 30000/1001, 1…1000")
        }
        return rate
    }

    /// A whole number in `range`.
    func integer(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
        guard let text = value(name) else { return nil }
        guard let number = Int(text), range ~= number else {
            throw PatchError(
                .usage, "--\(name) '\(text)' is not a whole number in \(range.lowerBound)…\(range.upperBound)")
        }
        return number
    }
}
