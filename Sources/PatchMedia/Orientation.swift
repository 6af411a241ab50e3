/// One of the eight ways to turn and mirror a picture.
///
/// A picture is first turned clockwise by `quarterTurns` · 90°, then, if `mirrored`, flipped left to right.
/// Thread-safety: a value.
public struct Orientation: Hashable, Sendable {
    /// Clockwise quarter turns, 0…3.
    public let quarterTurns: Int
    /// Flip left to right after turning.
    public let mirrored: Bool

    /// `quarterTurns` is taken modulo 4, negative values turn counter-clockwise.
    public init(quarterTurns: Int = 0, mirrored: Bool = false) {
        self.quarterTurns = ((quarterTurns % 4) + 4) % 4
        self.mirrored = mirrored
    }

    public static let identity = Orientation()
    public static let mirror = Orientation(mirrored: true)

    /// Whether width and height change places.
    public var swapsAxes: Bool { quarterTurns % 2 == 1 }

    /// The size of a `width`×`height` picture after this orientation.
    public func size(width: Int, height: Int) -> (width: Int, height: Int) {
        swapsAxes ? (height, width) : (width, height)
    }

    /// Applies `next` to a picture that this orientation already turned.
    public func then(_ next: Orientation) -> Orientation {
        // Turning after a mirror turns the other way round when seen before it.
        let turns = mirrored ? quarterTurns - next.quarterTurns : quarterTurns + next.quarterTurns
        return Orientation(quarterTurns: turns, mirrored: mirrored != next.mirrored)
    }

    /// Where pixel (x, y) of the oriented picture comes from in the stored `width`×`height` picture.
    public func source(x: Int, y: Int, width: Int, height: Int) -> (x: Int, y: Int) {
        let (orientedWidth, _) = size(width: width, height: height)
        let column = mirrored ? orientedWidth - 1 - x : x
        switch quarterTurns {
        case 0: return (column, y)
        case 1: return (y, height - 1 - column)
        case 2: return (width - 1 - column, height - 1 - y)
        default: return (width - 1 - y, column)
        }
    }
}

extension Orientation: CustomStringConvertible {
    public var description: String { "\(quarterTurns * 90)°" + (mirrored ? " mirrored" : "") }
}

extension Orientation {
    /// GPUImage's camera orientations, for a sensor that stores landscape pictures: which turn makes the stored picture
    /// stand upright when the device is held that way.
    public static let named: [(name: String, orientation: Orientation)] = [
        ("landscapeRight", .identity), ("portrait", Orientation(quarterTurns: 1)),
        ("landscapeLeft", Orientation(quarterTurns: 2)), ("portraitUpsideDown", Orientation(quarterTurns: 3)),
    ]

    /// The orientation of one of the names in `named`, or nil.
    public init?(named name: String) {
        guard let found = Self.named.first(where: { $0.name == name }) else { return nil }
        self = found.orientation
    }
}
