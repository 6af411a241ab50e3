import Glibc

extension Oscillation {
    /// sin(2π · turns).
    static func sine(turns: Double) -> Double { sin(2 * .pi * turns) }
}
