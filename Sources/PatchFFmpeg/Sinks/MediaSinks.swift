import PatchGraph

/// The sinks that FFmpeg makes possible.
public enum MediaSinks {
    /// `recorder`, `publisher`, `snapshot`.
    public static var kinds: [NodeKind] {
        [
            NodeKind(Recorder.schema, .sink { try Recorder(options: $0, environment: $1) }),
            NodeKind(Publisher.schema, .sink { try Publisher(options: $0, environment: $1) }),
            NodeKind(Snapshot.schema, .sink { try Snapshot(options: $0, environment: $1) }),
        ]
    }
}
