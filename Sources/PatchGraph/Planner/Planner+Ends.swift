import PatchKernel
import PatchMedia

/// Transitions: filters whose result is one of their inputs, as it is, at the ends of a parameter.
extension Planner {
    /// Stores the first two inputs of a transition in one format, so that either can stand for the result. Returns it.
    mutating func prepareEnds(_ work: inout FilterWork) throws -> VideoFormat? {
        guard work.filter.ends != nil, work.filter.ports.count >= 2 else { return nil }
        let pictures = try (0..<2).map { try input($0, of: work.node, work.checked) }
        var format = VideoFormat(.half4, width: work.size.width, height: work.size.height, color: .srgb)
        let last = work.filter.stages.count - 1
        if let wanted = try preferredFormat(for: work, stage: last, work.size), wanted.orientation == .identity {
            format = wanted
        } else if case .stored(let first) = pictures[0], case .stored(let second) = pictures[1],
            first.format == second.format, first.format.orientation == .identity
        {
            format = first.format
        }
        for (port, picture) in pictures.enumerated() {
            work.overrides[port] = .stored(try stored(picture, ofNode: work.upstream(port), as: format, for: work.node))
        }
        return format
    }

    /// The picture in exactly this format and size.
    private mutating func stored(
        _ picture: Picture, ofNode upstream: NodeID?, as format: VideoFormat, for node: PatchNode
    ) throws -> StoredPicture {
        if case .expression(let expression) = picture, intermediate(expression) == format {
            return try store(picture, ofNode: upstream)
        }
        return try converted(picture, ofNode: upstream, to: format, fill: .stretch, for: node)
    }

    /// Computes the result of a transition, to be passed over where an input stands for it.
    mutating func finishEnds(_ work: FilterWork, _ format: VideoFormat, _ last: Picture) throws -> Picture {
        guard let ends = work.filter.ends, let parameter = work.storeIndex[ends.parameter],
            case .stored(let first)? = work.overrides[0], case .stored(let second)? = work.overrides[1]
        else { return last }
        let uniform = plan.uniformCount
        plan.uniformCount += 1
        bind(.parameter(storeIndex: parameter.index, count: 1), at: uniform)
        let stored = try compute(
            try asExpression(last), as: format, reason: "'\(work.node.id)' is one of its inputs at its ends",
            ends: PassEnds(uniform: uniform, first: first.slot, second: second.slot))
        return .stored(stored)
    }
}
