import PatchMedia

extension NodeKind {
    /// `delay{ frames = N }`: the picture of N ticks ago, and the only node that may close a loop of wires.
    ///
    /// Until N ticks have passed it shows the first picture; in a loop, a transparent one. A loop keeps half floats; elsewhere
    /// stored pictures are kept as they are, computed ones as half floats up to 2 frames and as 8-bit RGBA beyond.
    public static let delay: NodeKind = {
        var schema = NodeSchema(
            kind: "delay", role: .filter, summary: "Shows the picture of some frames ago; may close a loop.",
            options: [
                OptionSchema("frames", .integer(1...120), "How many frames ago.", unit: "frames", default: "1")
            ])
        schema.isDelay = true
        return NodeKind(schema, .builtIn)
    }()
}
