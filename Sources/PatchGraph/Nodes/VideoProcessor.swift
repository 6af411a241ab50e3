import PatchMedia

/// A filter in Swift: the host program's own node, or a native operator.
///
/// Thread-safety: `process` is called on the engine's clock thread, one call at a time.
public protocol VideoProcessor: AnyObject, Sendable {
    /// The format that `process` wants to see; the planner converts. nil takes whatever comes.
    var pixelFormat: PixelFormat? { get }
    /// Changes `frame` in place and returns it, returns another frame, or nil, which drops this tick's frame.
    ///
    /// `frame` is a private copy: its planes may be written, row by row (`frame.plane(i).row(y)`), with its strides.
    /// A returned frame must have the same format and size.
    func process(_ frame: Frame, at time: MediaTime) -> Frame?
}

extension VideoProcessor {
    public var pixelFormat: PixelFormat? { nil }
}
