import PatchMedia
import Synchronization

/// Numbers that a native operator publishes once a tick, beside its picture: a mean colour, a centroid, a list of corners.
///
/// The newest tick's values win; nobody waits for anybody.
/// Thread-safety: `read` may be called from any thread; the engine writes on the clock thread.
public final class OperatorData: @unchecked Sendable {
    // Unchecked: `staging` is touched by the clock thread alone, everything else lies behind the lock.
    /// One value, or a list of values.
    ///
    /// Thread-safety: a value.
    public struct Field: Hashable, Sendable {
        public var name: String
        /// Floats of one element: 1 for a number, 2 for a point, 4 for a line from point to point.
        public var width: Int
        /// nil for a single element; for a list, the most elements it may have.
        public var limit: Int?

        public init(_ name: String, width: Int = 1, listOf limit: Int? = nil) {
            self.name = name
            self.width = max(1, width)
            self.limit = limit.map { max(1, min(65_536, $0)) }
        }

        /// Floats that it takes in `OperatorCall.data`: a list's count comes before its elements.
        public var floats: Int { limit.map { 1 + $0 * width } ?? width }
    }

    /// What one field is.
    ///
    /// Thread-safety: a value.
    public enum Value: Hashable, Sendable {
        case number(Float)
        /// A single element of several floats.
        case vector([Float])
        /// Numbers of a list.
        case numbers([Float])
        /// Elements of several floats each.
        case vectors([[Float]])
    }

    /// All fields at one tick.
    ///
    /// Thread-safety: a value.
    public struct Snapshot: Sendable {
        public var tick: Int64
        public var values: [String: Value]

        public init(tick: Int64, values: [String: Value]) {
            self.tick = tick
            self.values = values
        }
    }

    public let fields: [Field]
    /// Where the operator writes; touched by the clock thread alone.
    let staging: UnsafeMutableBufferPointer<Float>
    private struct State: @unchecked Sendable {
        // Unchecked: the memory is read and written under the lock that holds this value.
        var tick: Int64 = -1
        var floats: UnsafeMutableBufferPointer<Float>
    }
    private let state: Mutex<State>

    init(_ fields: [Field]) {
        self.fields = fields
        let count = fields.reduce(0) { $0 + $1.floats }
        staging = .allocate(capacity: count)
        staging.initialize(repeating: 0)
        let floats = UnsafeMutableBufferPointer<Float>.allocate(capacity: count)
        floats.initialize(repeating: 0)
        state = Mutex(State(floats: floats))
    }

    deinit {
        staging.deallocate()
        state.withLock { $0.floats.deallocate() }
    }

    /// Makes what is in `staging` the newest values.
    func publish(tick: Int64) {
        state.withLock { state in
            guard let base = staging.baseAddress else { return }
            state.floats.baseAddress?.update(from: base, count: staging.count)
            state.tick = tick
        }
    }

    /// The newest values; nil before the first tick, and when they are those of tick `seen`.
    public func read(after seen: Int64 = -1) -> Snapshot? {
        state.withLock { state in
            guard state.tick >= 0, state.tick != seen else { return nil }
            var values: [String: Value] = [:]
            var offset = 0
            for field in fields {
                let floats = UnsafeMutableBufferPointer(rebasing: state.floats[offset..<offset + field.floats])
                values[field.name] = Self.value(of: field, UnsafeBufferPointer(floats))
                offset += field.floats
            }
            return Snapshot(tick: state.tick, values: values)
        }
    }

    private static func value(of field: Field, _ floats: UnsafeBufferPointer<Float>) -> Value {
        guard let limit = field.limit else { return field.width == 1 ? .number(floats[0]) : .vector(Array(floats)) }
        let count = floats[0].isFinite ? max(0, min(limit, Int(floats[0]))) : 0
        if field.width == 1 { return .numbers(Array(floats[1..<1 + count])) }
        return .vectors(
            (0..<count).map { element in
                let start = 1 + element * field.width
                return Array(floats[start..<start + field.width])
            })
    }
}
