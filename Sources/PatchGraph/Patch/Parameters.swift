import PatchMedia

/// A knob of a node: what may be turned while on air, without compiling anything.
///
/// Thread-safety: a value.
public struct ParameterSchema: Hashable, Sendable {
    public enum Form: String, Hashable, Sendable {
        case float, vec2, vec3, vec4
        /// Four floats, R'G'B'A straight, 0…1.
        case color
        /// 0 or 1.
        case bool

        /// Floats that a value has.
        public var count: Int {
            switch self {
            case .float, .bool: 1
            case .vec2: 2
            case .vec3: 3
            case .vec4, .color: 4
            }
        }
    }

    public var name: String
    public var form: Form
    /// `form.count` floats.
    public var defaultValue: [Float]
    /// Legal range of each component; nil is any finite number.
    public var range: ClosedRange<Float>?
    /// The value at which the filter changes nothing, when there is one.
    public var neutral: [Float]?
    public var label: String
    public var unit: String
    public var isAnimatable: Bool

    public init(
        _ name: String, _ form: Form = .float, default defaultValue: [Float], range: ClosedRange<Float>? = nil,
        neutral: [Float]? = nil, label: String = "", unit: String = "", animatable: Bool = true
    ) {
        self.name = name
        self.form = form
        self.defaultValue = defaultValue
        self.range = range
        self.neutral = neutral
        self.label = label
        self.unit = unit
        self.isAnimatable = animatable
    }
}

/// How a value moves from start to end; f(0) = 0, f(1) = 1.
public enum Easing: String, Hashable, Sendable, CaseIterable {
    case linear, easeIn, easeOut, easeInOut, step

    /// Cubic for the eased forms (Penner's "cubic" family); `t` is clamped to 0…1.
    public func callAsFunction(_ t: Double) -> Double {
        let t = max(0, min(1, t))
        switch self {
        case .linear: return t
        case .easeIn: return t * t * t
        case .easeOut:
            let u = 1 - t
            return 1 - u * u * u
        case .easeInOut:
            if t < 0.5 { return 4 * t * t * t }
            let u = 2 - 2 * t
            return 1 - u * u * u / 2
        case .step: return t < 1 ? 0 : 1
        }
    }
}

/// A low-frequency oscillation: `center + amplitude · wave(frequency · time + phase)`, the wave in −1…1.
public struct Oscillation: Hashable, Sendable {
    public enum Wave: String, Hashable, Sendable, CaseIterable { case sine, triangle, square, saw }
    public var wave: Wave
    /// Hz.
    public var frequency: Double
    /// Turns, 0…1.
    public var phase: Double
    public var center: Double
    public var amplitude: Double

    public init(wave: Wave = .sine, frequency: Double, phase: Double = 0, center: Double, amplitude: Double) {
        self.wave = wave
        self.frequency = frequency
        self.phase = phase
        self.center = center
        self.amplitude = amplitude
    }

    /// - Parameter time: seconds of graph time.
    public func value(at time: Double) -> Double {
        let turns = frequency * time + phase
        let t = turns - turns.rounded(.down)
        let wave: Double =
            switch self.wave {
            case .sine: Self.sine(turns: t)
            case .triangle: t < 0.25 ? 4 * t : t < 0.75 ? 2 - 4 * t : 4 * t - 4
            case .square: t < 0.5 ? 1 : -1
            case .saw: 2 * t - 1
            }
        return center + amplitude * wave
    }
}

/// A value at a moment; between two keyframes the later one's easing applies.
public struct Keyframe: Hashable, Sendable {
    /// Seconds since the parameter got these keyframes.
    public var time: Double
    public var value: [Float]
    public var easing: Easing

    public init(time: Double, value: [Float], easing: Easing = .linear) {
        self.time = time
        self.value = value
        self.easing = easing
    }
}

/// Where a parameter's value comes from.
///
/// Thread-safety: a value.
public enum ParameterValue: Hashable, Sendable {
    case constant([Float])
    /// The value of a control (`param`, `toggle`, `color`, …) by name.
    case control(String)
    /// From the value it has when this is set to `target`, over `seconds`.
    case ramp(to: [Float], seconds: Double, easing: Easing)
    case oscillation(Oscillation)
    /// Sorted by time, at least one.
    case keyframes([Keyframe], loop: Bool)
}

/// A knob, switch or button that the script offers to the operator.
///
/// Thread-safety: a value.
public struct Control: Hashable, Sendable {
    public enum Form: Hashable, Sendable {
        case number(range: ClosedRange<Double>, step: Double?, unit: String)
        case toggle
        case choice([String])
        case button
        /// R'G'B'A, 0…1.
        case color
        /// x, y.
        case point
    }

    public var name: String
    public var form: Form
    public var defaultValue: ControlValue
    public var label: String
    public var location: SourceLocation?

    public init(
        _ name: String, _ form: Form, default defaultValue: ControlValue, label: String = "",
        at location: SourceLocation? = nil
    ) {
        self.name = name
        self.form = form
        self.defaultValue = defaultValue
        self.label = label.isEmpty ? name : label
        self.location = location
    }
}

/// What a control is set to.
public enum ControlValue: Hashable, Sendable {
    case number(Double)
    case bool(Bool)
    case choice(String)
    case vector([Double])

    /// As a parameter's floats; nil for a choice (scripts use its text).
    public var floats: [Float]? {
        switch self {
        case .number(let number): [Float(number)]
        case .bool(let bool): [bool ? 1 : 0]
        case .vector(let numbers): numbers.map { Float($0) }
        case .choice: nil
        }
    }
}
