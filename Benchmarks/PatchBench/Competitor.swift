import PatchKernel
import PatchMedia

/// One way of doing a workload, by us or by a peer: something that can be timed and whose picture can be looked at.
struct Competitor {
    /// "ours", "limit", or the peer's name.
    var group: String
    var way: String
    /// Milliseconds of each of so many frames.
    var run: (_ iterations: Int) throws -> [Double]
    /// The bytes that the last frame gave.
    var output: () throws -> [UInt8]
}

/// What was measured of a competitor.
struct Timing {
    var group: String
    var way: String
    var milliseconds: [Double] = []
    var difference: Difference?
    /// Why it does not count; nil when it does.
    var problem: String?

    var median: Double { Self.median(milliseconds) }
    var minimum: Double { milliseconds.min() ?? .nan }

    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return .nan }
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}

/// Runs competitors in turns, so that whatever else the machine does hits all of them alike.
struct Interleaving {
    var rounds: Int

    /// About this long is each turn.
    static let turnMilliseconds = 12.0
    /// So long runs each before it counts: the system needs as long to spread new threads over the cores.
    static let warmingMilliseconds = 250.0

    /// - Returns: one timing for each competitor; those that fail or are far behind others of their group ran less.
    func measure(_ competitors: [Competitor], check: (Competitor, [UInt8]) -> (Difference?, String?)) -> [Timing] {
        var timings = competitors.map { Timing(group: $0.group, way: $0.way) }
        // The first frames warm up, show the picture, and say how many frames make a turn.
        var turns: [Int] = []
        for (index, competitor) in competitors.enumerated() {
            do {
                var first = try competitor.run(2).min() ?? 1
                var warming = 2 * first
                while warming < Self.warmingMilliseconds {
                    let more = try competitor.run(2)
                    warming += more.reduce(0, +)
                    first = min(first, more.min() ?? first)
                }
                turns.append(max(1, min(20, Int(Self.turnMilliseconds / max(0.01, first)))))
                (timings[index].difference, timings[index].problem) = check(competitor, try competitor.output())
            } catch {
                turns.append(1)
                timings[index].problem = "\(error)"
            }
        }
        for round in 0..<rounds {
            for (index, competitor) in competitors.enumerated() where timings[index].problem == nil {
                if round >= 3, isSlow(timings[index]) || isHopeless(timings[index], timings) { continue }
                do {
                    timings[index].milliseconds += try competitor.run(turns[index])
                } catch {
                    timings[index].problem = "\(error)"
                }
            }
        }
        return timings
    }

    /// A few frames say enough, and many would take minutes.
    private func isSlow(_ timing: Timing) -> Bool { timing.minimum > 60 }

    /// Another way of the same library is far ahead: only the best counts.
    private func isHopeless(_ timing: Timing, _ all: [Timing]) -> Bool {
        all.contains { $0.group == timing.group && $0.problem == nil && $0.minimum * 1.6 < timing.minimum }
    }
}

extension Competitor {
    /// One of our ways, compiled and ready.
    static func ours(_ way: OurWay, _ run: OurRun) -> Competitor {
        Competitor(group: "ours", way: way.name, run: { try run.times($0) }, output: { try run.output() })
    }
}
