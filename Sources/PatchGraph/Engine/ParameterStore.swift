import PatchMedia
import Synchronization

/// The present value of every parameter and control, and what moves it.
///
/// Values outlive plans: an entry is found by node and name, so a ramp or an operator's setting goes on across a reload.
/// The clock thread takes one snapshot a tick, so that no parameter changes inside a frame.
/// Thread-safety: all members may be called from any thread; each call locks for a moment.
final class ParameterStore: Sendable {
    struct Key: Hashable {
        /// nil for a control.
        var node: NodeID?
        var name: String
    }

    private struct Entry {
        var key: Key
        /// What the graph file said; a reload that says the same leaves the present value, a ramp too, alone.
        var declared: ParameterValue
        /// What the script or the host program set since then.
        var assigned: ParameterValue?
        var motion: Motion
        var value: SIMD4<Float>
        var count: Int
        var isLive = true
    }

    /// What moves a value.
    private enum Motion {
        case still
        /// Follows another entry (a control).
        case follows(Int)
        case ramp(from: SIMD4<Float>, to: SIMD4<Float>, start: Double?, seconds: Double, easing: Easing)
        case oscillation(Oscillation)
        case keyframes([Keyframe], loop: Bool, start: Double?)
    }

    private struct State {
        var entries: [Entry] = []
        var index: [Key: Int] = [:]
        var free: [Int] = []
        /// Graph seconds at the last snapshot.
        var now: Double = 0
        var controls: [String: (control: Control, value: ControlValue, isOperatorSet: Bool)] = [:]
    }

    private let state = Mutex(State())

    /// Finds or makes the entry of a node's parameter, without changing its present value if it exists.
    func reserve(node: NodeID, _ schema: ParameterSchema, declared: ParameterValue?) -> Int {
        let key = Key(node: node, name: schema.name)
        return state.withLock { state in
            if let index = state.index[key], state.entries[index].count == schema.form.count { return index }
            let value = declared ?? .constant(schema.defaultValue)
            return Self.insert(
                key, declared: value, count: schema.form.count, initial: schema.defaultValue, in: &state)
        }
    }

    private static func insert(
        _ key: Key, declared: ParameterValue, count: Int, initial: [Float], in state: inout State
    ) -> Int {
        let entry = Entry(key: key, declared: declared, motion: .still, value: vector(initial), count: count)
        let index: Int
        if let reused = state.free.popLast() {
            index = reused
            state.entries[index] = entry
        } else {
            index = state.entries.count
            state.entries.append(entry)
        }
        state.index[key] = index
        set(declared, at: index, in: &state)
        return index
    }

    private static func vector(_ floats: [Float]) -> SIMD4<Float> {
        var result = SIMD4<Float>()
        for (lane, float) in floats.prefix(4).enumerated() { result[lane] = float }
        return result
    }

    private static func set(_ value: ParameterValue, at index: Int, in state: inout State) {
        switch value {
        case .constant(let floats):
            state.entries[index].value = vector(floats)
            state.entries[index].motion = .still
        case .control(let name):
            if let control = state.index[Key(node: nil, name: name)] {
                state.entries[index].motion = .follows(control)
                state.entries[index].value = state.entries[control].value
            } else {
                state.entries[index].motion = .still
            }
        case .ramp(let target, let seconds, let easing):
            state.entries[index].motion = .ramp(
                from: state.entries[index].value, to: vector(target), start: nil, seconds: max(0, seconds),
                easing: easing)
        case .oscillation(let oscillation): state.entries[index].motion = .oscillation(oscillation)
        case .keyframes(let frames, let loop):
            state.entries[index].motion = .keyframes(frames, loop: loop, start: nil)
        }
    }

    /// Sets a parameter at the next tick. False when no running node has it.
    func set(node: NodeID, name: String, _ value: ParameterValue) -> Bool {
        state.withLock { state in
            guard let index = state.index[Key(node: node, name: name)] else { return false }
            state.entries[index].assigned = value
            Self.set(value, at: index, in: &state)
            return true
        }
    }

    /// The floats of a parameter now.
    func floats(node: NodeID, name: String) -> [Float]? {
        state.withLock { state in
            guard let index = state.index[Key(node: node, name: name)] else { return nil }
            let entry = state.entries[index]
            return (0..<entry.count).map { entry.value[$0] }
        }
    }

    /// Makes the patch's controls known, before its parameters are reserved. A value that the operator set stays when the
    /// control still accepts it.
    func declare(_ controls: [Control]) {
        state.withLock { state in
            for control in controls {
                var value = control.defaultValue
                var isOperatorSet = false
                if let known = state.controls[control.name], known.isOperatorSet,
                    control.rejection(of: known.value) == nil
                {
                    value = known.value
                    isOperatorSet = true
                }
                state.controls[control.name] = (control, value, isOperatorSet)
                let key = Key(node: nil, name: control.name)
                let floats = value.floats ?? [0]
                if let index = state.index[key] {
                    state.entries[index].value = Self.vector(floats)
                    state.entries[index].count = floats.count
                } else {
                    _ = Self.insert(
                        key, declared: .constant(floats), count: floats.count, initial: floats, in: &state)
                }
            }
        }
    }

    /// An operator's setting of a control.
    /// - Throws: `PatchError.usage` for an unknown name or an illegal value.
    func setControl(_ name: String, _ value: ControlValue) throws {
        try state.withLock { state in
            guard var known = state.controls[name] else {
                let near = Spelling.nearest(to: name, in: state.controls.keys)
                throw PatchError(
                    .usage, "no control named '\(name)'",
                    remedy: near.map { "did you mean '\($0)'?" }
                        ?? "controls: \(state.controls.keys.sorted().joined(separator: ", "))")
            }
            if let reason = known.control.rejection(of: value) {
                throw PatchError(.usage, "control '\(name)': \(reason)", at: known.control.location)
            }
            known.value = value
            known.isOperatorSet = true
            state.controls[name] = known
            if let index = state.index[Key(node: nil, name: name)], let floats = value.floats {
                state.entries[index].value = Self.vector(floats)
            }
        }
    }

    func controlValue(_ name: String) -> ControlValue? { state.withLock { $0.controls[name]?.value } }

    var controls: [(control: Control, value: ControlValue)] {
        state.withLock { $0.controls.values.map { ($0.control, $0.value) } }.sorted { $0.0.name < $1.0.name }
    }

    /// A plan goes on air: parameters whose value changed take the new one; entries that it does not use and controls that it
    /// does not declare are forgotten.
    func commit(_ parameters: [PlanParameter], controls: [Control], from origin: PatchOrigin) {
        state.withLock { state in
            for parameter in parameters {
                let entry = state.entries[parameter.storeIndex]
                switch origin {
                case .file:
                    guard entry.declared != parameter.declared else { continue }
                    state.entries[parameter.storeIndex].declared = parameter.declared
                    state.entries[parameter.storeIndex].assigned = nil
                case .edit:
                    guard entry.assigned ?? entry.declared != parameter.declared else { continue }
                    state.entries[parameter.storeIndex].assigned = parameter.declared
                case .onAir: continue
                }
                Self.set(parameter.declared, at: parameter.storeIndex, in: &state)
            }
            for parameter in parameters {
                // A control may have been made again, so its followers look it up anew.
                if case .control(let name) = parameter.declared,
                    let control = state.index[Key(node: nil, name: name)],
                    case .follows = state.entries[parameter.storeIndex].motion
                {
                    state.entries[parameter.storeIndex].motion = .follows(control)
                }
            }
            var used = Set(parameters.map(\.storeIndex))
            let names = Set(controls.map(\.name))
            for (key, index) in state.index where key.node == nil && names.contains(key.name) { used.insert(index) }
            for (name, _) in state.controls where !names.contains(name) { state.controls[name] = nil }
            for index in state.entries.indices where !used.contains(index) && state.entries[index].isLive {
                state.index[state.entries[index].key] = nil
                state.entries[index].isLive = false
                state.entries[index].motion = .still
                state.free.append(index)
            }
        }
    }

    /// Evaluates everything at graph time `seconds` and writes each parameter's floats where the plan wants them.
    func snapshot(at seconds: Double, _ targets: [UniformTarget], into uniforms: UnsafeMutablePointer<Float>) {
        state.withLock { state in
            state.now = seconds
            for index in state.entries.indices where state.entries[index].isLive {
                Self.step(index, seconds, in: &state)
            }
            for target in targets {
                let value = state.entries[target.storeIndex].value
                for lane in 0..<target.count { uniforms[target.offset + lane] = value[lane] }
            }
        }
    }

    /// Writes the values of the last snapshot where a plan that is not on air yet wants them.
    func present(_ targets: [UniformTarget], into uniforms: UnsafeMutablePointer<Float>) {
        state.withLock { state in
            for target in targets {
                let value = state.entries[target.storeIndex].value
                for lane in 0..<target.count { uniforms[target.offset + lane] = value[lane] }
            }
        }
    }

    private static func step(_ index: Int, _ now: Double, in state: inout State) {
        switch state.entries[index].motion {
        case .still: return
        case .follows(let control): state.entries[index].value = state.entries[control].value
        case .ramp(let from, let to, let start, let seconds, let easing):
            guard let start else {
                state.entries[index].motion = .ramp(from: from, to: to, start: now, seconds: seconds, easing: easing)
                if seconds == 0 { state.entries[index].value = to }
                return
            }
            let t = seconds > 0 ? (now - start) / seconds : 1
            state.entries[index].value = t >= 1 ? to : from + (to - from) * Float(easing(t))
            if t >= 1 { state.entries[index].motion = .still }
        case .oscillation(let oscillation):
            state.entries[index].value = SIMD4(repeating: Float(oscillation.value(at: now)))
        case .keyframes(let frames, let loop, let start):
            guard let start else {
                state.entries[index].motion = .keyframes(frames, loop: loop, start: now)
                if let first = frames.first { state.entries[index].value = vector(first.value) }
                return
            }
            var t = now - start
            if loop, let last = frames.last, last.time > 0 { t = t.truncatingRemainder(dividingBy: last.time) }
            state.entries[index].value = value(of: frames, at: t) ?? state.entries[index].value
        }
    }

    private static func value(of frames: [Keyframe], at time: Double) -> SIMD4<Float>? {
        guard let first = frames.first, let last = frames.last else { return nil }
        if time <= first.time { return vector(first.value) }
        if time >= last.time { return vector(last.value) }
        for index in 1..<frames.count where time < frames[index].time {
            let (a, b) = (frames[index - 1], frames[index])
            let span = b.time - a.time
            let t = span > 0 ? (time - a.time) / span : 1
            return vector(a.value) + (vector(b.value) - vector(a.value)) * Float(b.easing(t))
        }
        return vector(last.value)
    }

    /// Entries in use, for tests of leaks.
    var liveEntries: Int { state.withLock { $0.entries.count { $0.isLive } } }
}

extension Control {
    /// Why the control cannot take this value, or nil when it can.
    public func rejection(of value: ControlValue) -> String? {
        switch (form, value) {
        case (.number(let range, _, let unit), .number(let number)):
            range.contains(number)
                ? nil : "\(number) is outside \(range.lowerBound)…\(range.upperBound)\(unit.isEmpty ? "" : " " + unit)"
        case (.toggle, .bool), (.button, .bool): nil
        case (.choice(let choices), .choice(let choice)):
            choices.contains(choice) ? nil : "'\(choice)' is none of \(choices.joined(separator: ", "))"
        case (.color, .vector(let numbers)):
            (numbers.count == 3 || numbers.count == 4) && numbers.allSatisfy { (0...1).contains($0) }
                ? nil : "a colour has 3 or 4 numbers in 0…1"
        case (.point, .vector(let numbers)):
            numbers.count == 2 && numbers.allSatisfy(\.isFinite) ? nil : "a point has 2 numbers"
        case (.number, _): "takes a number"
        case (.toggle, _): "takes true or false"
        case (.button, _): "is a button: it is pressed, not set"
        case (.choice(let choices), _): "takes one of \(choices.joined(separator: ", "))"
        case (.color, _): "takes a colour"
        case (.point, _): "takes a point"
        }
    }
}

/// Where a patch comes from, which says what its parameters' values mean.
///
/// Thread-safety: a value.
enum PatchOrigin {
    /// A graph file: values that it says as before leave the present ones alone.
    case file
    /// An edit of the running patch: its values are the present ones.
    case edit
    /// The running patch itself, planned anew: its values may be older than the present ones, which stay.
    case onAir
}
