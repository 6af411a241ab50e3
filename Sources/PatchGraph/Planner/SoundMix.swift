import PatchMedia

/// How a node with several inputs makes one sound of theirs.
///
/// Thread-safety: a value.
enum SoundMix: Hashable, Sendable {
    /// A mixer: each of so many slots has a gain, a balance and a mute of its own, and is silent while it is hidden.
    case slots(Int)
    /// A transition: from the first input to the second, along a parameter.
    case crossfade(String)

    /// The ports whose sounds are added.
    var ports: Range<Int> {
        switch self {
        case .slots(let count): 0..<count
        case .crossfade: 0..<2
        }
    }

    /// The parameters that turn a port's gain, in the order in which its strip reads them.
    func parameters(ofPort name: String) -> [String] {
        switch self {
        case .slots: ["gain", "pan", "mute", "visible"].map { "\(name).\($0)" }
        case .crossfade(let parameter): [parameter]
        }
    }

    /// The kind of a port's strip.
    func kind(ofPort port: Int) -> String {
        switch self {
        case .slots: "mixer slot"
        case .crossfade: port == 0 ? "transition from" : "transition to"
        }
    }
}

extension PatchNode {
    /// nil for a node that passes its first input's sound on.
    var soundMix: SoundMix? {
        guard case .kernels(let filter) = body else { return nil }
        if filter.mixesSound {
            let names = Set(filter.parameters.map(\.name))
            return .slots(filter.ports.prefix { names.contains("\($0).gain") }.count)
        }
        guard filter.ports.count >= 2 else { return nil }
        if let ends = filter.ends { return .crossfade(ends.parameter) }
        let isTransition = kind.hasPrefix("transition.") && filter.parameters.contains { $0.name == "progress" }
        return isTransition ? .crossfade("progress") : nil
    }
}
