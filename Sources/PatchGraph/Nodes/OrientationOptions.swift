import PatchMedia

/// The options `orientation` and `mirror`, which every source of moving pictures takes.
///
/// GPUImage's words, for a camera whose sensor is landscape: `landscapeRight` is as stored, `portrait` a quarter turn
/// clockwise (640×480 becomes 480×640), `landscapeLeft` half a turn, `portraitUpsideDown` a quarter turn
/// counter-clockwise. `mirror` flips left and right after turning, as a front camera shows its owner.
public enum OrientationOptions {
    public static let schemas = [
        OptionSchema(
            "orientation", .choice(["portrait", "portraitUpsideDown", "landscapeLeft", "landscapeRight"]),
            "How the picture is turned: landscapeRight leaves it as it is, portrait turns it a quarter clockwise, "
                + "landscapeLeft half, portraitUpsideDown a quarter counter-clockwise.", default: "landscapeRight"),
        OptionSchema(
            "mirror", .bool, "Flips left and right after turning, as a front camera shows its owner.", default: "false"),
    ]

    /// What `options` ask for; nothing asked for is the identity.
    public static func orientation(_ options: NodeOptions) -> Orientation {
        let turns =
            switch options.string("orientation") {
            case "portrait": 1
            case "landscapeLeft": 2
            case "portraitUpsideDown": 3
            default: 0
            }
        return Orientation(quarterTurns: turns, mirrored: options.bool("mirror") ?? false)
    }
}
