/// Finds the name that a person most likely meant.
public enum Spelling {
    /// The candidate nearest to `word` by edit distance (case ignored), or nil when none is near enough to be a slip:
    /// more than a third of the longer word's letters would have to change, and neither begins with the other.
    public static func nearest(to word: String, in candidates: some Sequence<String>) -> String? {
        let lowered = word.lowercased()
        var best: (name: String, distance: Int)?
        for candidate in candidates {
            let other = candidate.lowercased()
            let isPrefix = lowered.count >= 3 && (other.hasPrefix(lowered) || lowered.hasPrefix(other))
            let distance = isPrefix ? 1 : editDistance(Array(lowered.utf8), Array(other.utf8))
            guard distance * 3 <= max(lowered.count, other.count) + 1 else { continue }
            if best == nil || distance < best!.distance || (distance == best!.distance && candidate < best!.name) {
                best = (candidate, distance)
            }
        }
        return best?.name
    }

    /// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours cost one each.
    private static func editDistance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
        var beforeLast = [Int](repeating: 0, count: b.count + 1)
        var last = Array(0...b.count)
        for i in 1...a.count {
            var row = [Int](repeating: i, count: b.count + 1)
            for j in 1...b.count {
                row[j] = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                    row[j] = min(row[j], beforeLast[j - 2] + 1)
                }
            }
            (beforeLast, last) = (last, row)
        }
        return last[b.count]
    }
}
