import PatchGraph
import PatchMedia

/// What a mixer and each of its slots can be told, and how the native operator `mixer` gets it.
///
/// Thread-safety: a value.
public enum MixerSchema {
    /// How a picture fills its slot, by the number that the parameter `aspect` has.
    public static let aspects = ["stretch", "fit", "fill"]
    /// How a slot is laid over what is below; the formulas are those of W3C Compositing and Blending, on encoded values.
    public static let blends = [
        "normal", "multiply", "screen", "overlay", "darken", "lighten", "add", "difference", "exclusion", "hardLight",
    ]
    public static let mostSlots = 24

    /// The parameters of a slot, without the slot's name and dot in front.
    /// - Parameters: the canvas's size in pixels, which a slot has unless it says otherwise.
    public static func slotParameters(width: Int, height: Int) -> [ParameterSchema] {
        pictureParameters(width: width, height: height) + soundParameters
    }

    /// What a slot's sound can be told. `gain` is a factor of amplitude.
    private static let soundParameters = [
        ParameterSchema("gain", default: [1], range: 0...8, neutral: [1], label: "Loudness, as a factor"),
        ParameterSchema("pan", default: [0], range: -1...1, neutral: [0], label: "Balance"),
        ParameterSchema("mute", .bool, default: [0], animatable: false),
    ]

    private static func pictureParameters(width: Int, height: Int) -> [ParameterSchema] {
        let far: ClosedRange<Float> = -32768...32768
        return [
            ParameterSchema("position", .vec2, default: [0, 0], range: far, label: "Top left", unit: "px"),
            ParameterSchema("size", .vec2, default: [Float(width), Float(height)], range: 0...32768, unit: "px"),
            ParameterSchema("z", default: [0], range: far, label: "Height in the pile"),
            ParameterSchema("transparency", default: [0], range: 0...1, neutral: [0]),
            ParameterSchema("visible", .bool, default: [1], animatable: false),
            ParameterSchema("aspect", default: [0], range: 0...2, animatable: false),
            // x, y, width, height of what is shown, in parts of the picture.
            ParameterSchema("crop", .vec4, default: [0, 0, 1, 1], range: 0...1, neutral: [0, 0, 1, 1]),
            ParameterSchema("fill", .color, default: [0, 0, 0, 0], range: 0...1, label: "Beside the picture"),
            ParameterSchema("cornerRadius", default: [0], range: 0...16384, neutral: [0], unit: "px"),
            ParameterSchema("borderWidth", default: [0], range: 0...1024, neutral: [0], unit: "px"),
            ParameterSchema("borderColor", .color, default: [1, 1, 1, 1], range: 0...1),
            ParameterSchema("shadowOffset", .vec2, default: [0, 0], range: -1024...1024, unit: "px"),
            ParameterSchema("shadowBlur", default: [0], range: 0...1024, unit: "px"),
            ParameterSchema("shadowColor", .color, default: [0, 0, 0, 0], range: 0...1),
        ]
    }

    /// Floats of one slot, and of the canvas's colour before the first.
    static let slotFloats = pictureParameters(width: 1, height: 1).reduce(0) { $0 + $1.form.count }
    static let canvasFloats = 4

    /// One slot of a mixer.
    ///
    /// Thread-safety: a value.
    public struct Slot: Hashable, Sendable {
        public var name: String
        public var blend: String
        /// A second input, whose luminance times alpha covers the slot.
        public var hasMask: Bool

        public init(_ name: String, blend: String = "normal", hasMask: Bool = false) {
            self.name = name
            self.blend = blend
            self.hasMask = hasMask
        }
    }

    /// A mixer of these slots as a filter: a port for each slot by its name and for each mask by `NAME.mask`; parameters
    /// `fill` and `NAME.position`, `NAME.size` and so on.
    public static func filter(_ slots: [Slot], width: Int, height: Int) -> KernelFilter {
        func parameters(_ schemas: [ParameterSchema]) -> [ParameterSchema] {
            slots.flatMap { slot in
                schemas.map { schema in
                    var schema = schema
                    schema.name = "\(slot.name).\(schema.name)"
                    return schema
                }
            }
        }
        let picture =
            [ParameterSchema("fill", .color, default: [0, 0, 0, 1], range: 0...1, label: "Background")]
            + parameters(pictureParameters(width: width, height: height))
        let ports = slots.map(\.name) + slots.filter(\.hasMask).map { "\($0.name).mask" }
        let native = KernelFilter.NativeStage(
            "mixer", parameters: picture.map { .init($0.name, .parameter($0.name)) },
            options: NodeOptions([
                "blends": .list(slots.map(\.blend)), "masks": .vector(slots.map { $0.hasMask ? 1 : 0 }),
            ]))
        var filter = KernelFilter(
            name: "mixer", summary: "Lays pictures over a canvas, each in a slot of its own.", ports: ports,
            parameters: picture + parameters(soundParameters),
            stages: [
                .init(
                    native: native, inputs: ports.indices.map { .port($0) }, size: .pixels(width: width, height: height)
                )
            ])
        filter.mixesSound = true
        return filter
    }
}

/// The present values of one slot, in the order of `MixerSchema.pictureParameters`.
struct SlotValues: Equatable {
    var position: SIMD2<Float>
    var size: SIMD2<Float>
    var z: Float
    var opacity: Float
    var isVisible: Bool
    var aspect: Int
    var crop: SIMD4<Float>
    var fill: SIMD4<Float>
    var cornerRadius: Float
    var borderWidth: Float
    var borderColor: SIMD4<Float>
    var shadowOffset: SIMD2<Float>
    var shadowBlur: Float
    var shadowColor: SIMD4<Float>

    init(_ p: UnsafePointer<Float>) {
        position = SIMD2(p[0], p[1])
        size = SIMD2(p[2], p[3])
        z = p[4]
        opacity = 1 - max(0, min(1, p[5]))
        isVisible = p[6] != 0
        aspect = p[7] >= 1.5 ? 2 : p[7] >= 0.5 ? 1 : 0
        crop = SIMD4(p[8], p[9], p[10], p[11])
        fill = SIMD4(p[12], p[13], p[14], p[15])
        cornerRadius = p[16]
        borderWidth = p[17]
        borderColor = SIMD4(p[18], p[19], p[20], p[21])
        shadowOffset = SIMD2(p[22], p[23])
        shadowBlur = p[24]
        shadowColor = SIMD4(p[25], p[26], p[27], p[28])
    }
}
