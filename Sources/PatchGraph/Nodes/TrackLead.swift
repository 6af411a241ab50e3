import PatchMedia

/// What one track of a live source has at a tick, on the source's time line.
struct TrackNews {
    /// How far it reaches.
    var newest: MediaTime
    /// Where what comes next is to begin.
    var next: MediaTime
    /// Where the first of what came since the tick before begins; nil when nothing came.
    var first: MediaTime?
}

/// How far one track of a live source is ahead of what is due.
///
/// While nothing comes, the lead falls, and only what comes next tells why: if it follows what was there, it was late; if it
/// begins later, the source had nothing to send, and that is no lateness.
struct TrackLead {
    /// What a tick finds.
    struct Finding {
        /// Nanoseconds; `.max` while the track is silent for too long to say anything.
        var now: Int64
        /// The same when something came since the tick before, else `.max`.
        var fresh = Int64.max
        /// The smallest lead that is certain since the last finding with one; `.max` when none is.
        var smallest = Int64.max
        /// Ticks for which something came too late.
        var missed = 0
        /// It delivers, and not far too late.
        var isTimely: Bool { now != .max && now >= -TrackLead.breakLength }
    }

    private var lastNews: MediaTime?
    /// Where what comes next is to begin.
    private var expected: MediaTime?
    /// Since the last arrival: the smallest lead, and ticks that missed something.
    private var waiting = Int64.max
    private var missed = 0

    /// Longer silence says nothing about jitter, in nanoseconds; and a larger lead is a break.
    static let breakLength: Int64 = 1_000_000_000

    /// What was measured against the former tie is worth nothing.
    mutating func tieMoved() {
        waiting = .max
        missed = 0
    }

    /// - Parameters:
    ///   - due: nanoseconds on the source's time line.
    ///   - step: length of a frame, in nanoseconds.
    mutating func look(_ news: TrackNews, at tick: Tick, due: Int64, step: Int64) -> Finding {
        let lead = news.newest.nanoseconds &- due
        let late = -step - 1_000_000
        let isSilent = lastNews.map { (tick.time - $0).nanoseconds > Self.breakLength } ?? false
        guard let first = news.first else {
            waiting = min(waiting, lead)
            if lead < late { missed += 1 }
            return Finding(now: isSilent ? .max : lead)
        }
        var finding = Finding(now: lead, fresh: lead)
        // What is later than that is a break, or alone.
        if lead >= -Self.breakLength { (finding.smallest, finding.missed) = (lead, lead < late ? 1 : 0) }
        if waiting != .max, !isSilent {
            let hole = expected.map { max(0, (first - $0).nanoseconds) } ?? 0
            let smallest = waiting &+ hole
            finding.smallest = min(finding.smallest, smallest)
            if smallest < late { finding.missed += missed }
        }
        lastNews = tick.time
        expected = news.next
        tieMoved()
        return finding
    }
}
