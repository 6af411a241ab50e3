import PatchGraph
import PatchMedia

/// Reads a still picture outside a graph.
public enum StillPicture {
    /// The picture in a file, as `image{ … }` would show it: alpha premultiplied, of an animation the first picture.
    /// - Throws: `PatchError` when it is missing, no picture, or too large.
    public static func read(_ path: String) throws -> Frame {
        let source = ImageSource(
            path, size: nil, orientation: .identity, environment: NodeEnvironment(nodeID: path))
        defer { source.stop() }
        _ = try source.open()
        guard
            case .frame(let frame) = source.frame(at: Tick(index: 0, rate: FrameRate(1), hostTime: 0, isOffline: true))
        else { throw PatchError(.media, "'\(path)' has no picture", remedy: "name a PNG or JPEG") }
        return frame
    }
}
