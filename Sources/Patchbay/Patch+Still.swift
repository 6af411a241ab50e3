import PatchGraph
import PatchMedia

/// One picture of a graph in place of its outputs.
///
/// Thread-safety: a value.
public struct StillRequest: Sendable {
    /// .png, .jpg or .jpeg.
    public var file: String
    /// Graph time: the first frame at or after it.
    public var time: MediaTime
    /// nil keeps the picture's own size.
    public var size: (width: Int, height: Int)?

    public init(file: String, time: MediaTime, size: (width: Int, height: Int)? = nil) {
        self.file = file
        self.time = time
        self.size = size
    }
}

extension Patch {
    /// The patch without its outputs but with a snapshot of what the first display shows, or the first output where there is
    /// no display. A raw output on the way there stays, and writes nothing.
    /// - Throws: `PatchError` when no output has a picture.
    func showing(_ still: StillRequest, registry: NodeRegistry) throws -> Patch {
        let sinks = nodes.filter { registry[$0.kind]?.schema.role == .sink }
        let fed = sinks.filter { sink in wires.contains { $0.to == sink.id && $0.media != .audio } }
        guard let shown = fed.first(where: { $0.kind == "display" }) ?? fed.first else {
            throw PatchError(
                .graph, "the graph has no output with a picture",
                remedy: "wire something to a display, recorder, publisher or rawDataOutput")
        }
        // Upstream of what is shown: the only outputs that stay are raw ones that the picture goes through.
        var needed: Set<NodeID> = []
        var open = wires.filter { $0.to == shown.id && $0.media != .audio }.map(\.from)
        while let next = open.popLast() {
            guard needed.insert(next).inserted else { continue }
            open += wires.filter { $0.to == next && $0.media != .audio }.map(\.from)
        }
        let sinkIDs = Set(sinks.map(\.id))
        var patch = self
        patch.nodes.removeAll { sinkIDs.contains($0.id) && !needed.contains($0.id) }
        // A picture needs no microphone.
        patch.nodes.removeAll { registry[$0.kind]?.schema.hasPicture == false }
        for index in patch.nodes.indices where sinkIDs.contains(patch.nodes[index].id) {
            patch.nodes[index].options.values["file"] = nil
            patch.nodes[index].options.values["container"] = nil
        }
        let kept = Set(patch.nodes.map(\.id))
        patch.wires.removeAll { !kept.contains($0.to) || !kept.contains($0.from) || $0.media == .audio }
        let id = "still picture"
        var options = NodeOptions(["file": .string(still.file), "at": .number(still.time.seconds)])
        if let size = still.size { options.values["size"] = .vector([Double(size.width), Double(size.height)]) }
        patch.nodes.append(PatchNode(id: id, kind: "snapshot", options: options, at: shown.location))
        for wire in wires where wire.to == shown.id && wire.media != .audio {
            patch.wires.append(Wire(from: wire.from, to: id, port: 0, media: .video, at: wire.location))
        }
        return patch
    }
}
