import Glibc
import PatchMedia

/// What a chain holds back, found out by trying.
extension SoundChain {
    /// Gives the chain silence in uneven portions until what it holds back repeats.
    /// - Returns: the most that it held back; 0 when everything comes out at once.
    func findLatency() throws -> Int {
        let portions = [1600, 1601, 800, 1024, 441]
        var (given, got, most, turn) = (0, 0, 0, 0)
        var lastRise = 0
        // Steady: the same maximum over as long as it took to get there, and over half a second at least.
        while given < 2 * lastRise + 24_000 {
            let portion = portions[turn % portions.count]
            turn += 1
            try push(portion) { row, _ in row.update(repeating: 0, count: portion) }
            given += portion
            got += try pull { _, _ in }
            if got > given { throw lengthened() }
            if given - got > most {
                most = given - got
                lastRise = given
            }
            guard most <= Self.mostHeld else {
                throw PatchError(
                    .script,
                    "the ffmpeg chain \"\(text.prefix(200))\" holds back more than 10 s of sound, or gives none",
                    remedy: "take the filter out that waits so long or leaves sound out")
            }
        }
        // Where it gives stretches of a fixed length, other portions may find it fuller by one step of the search.
        return most == 0 ? 0 : try finest(most)
    }

    /// The same, in portions so small that none of a chain's stretches is missed by more than one of them.
    private func finest(_ coarse: Int) throws -> Int {
        let portion = 32
        var (given, got, most) = (0, 0, coarse)
        try open()
        for _ in 0..<(2 * coarse + 16_384) / portion {
            try push(portion) { row, _ in row.update(repeating: 0, count: portion) }
            given += portion
            got += try pull { _, _ in }
            most = max(most, given - got)
        }
        return min(Self.mostHeld, most + portion)
    }

    /// Sends a tone through the chain, which must be a new one.
    /// - Returns: samples of the result that are as good as silent: a chain of windows may give stretches that its input has
    ///   not reached yet. 0 when the first second has nothing that stands out.
    func findOnset() throws -> Int {
        let wanted = format.sampleRate
        var heard: [Float] = []
        var given = 0
        while heard.count < wanted, given < Self.mostHeld + wanted {
            try push(1600) { row, _ in
                for index in 0..<1600 { row[index] = cosf(Float((given + index) % 48) * 2 * Float.pi / 48) / 4 }
            }
            given += 1600
            _ = try pull { count, rows in heard += UnsafeBufferPointer(start: rows(0), count: count) }
        }
        let peak = heard.suffix(wanted / 10).reduce(0) { max($0, abs($1)) }
        let onset = heard.firstIndex { abs($0) > 0.02 * peak } ?? 0
        // What is softer in its first samples is no silence.
        return onset < 16 ? 0 : onset
    }
}
