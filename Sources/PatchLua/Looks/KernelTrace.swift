internal import CLua
import PatchGraph
import PatchKernel
import PatchMedia

/// One run of a pixel function with symbolic values: what it computes becomes a kernel.
final class KernelTrace {
    /// Values that one kernel may have: far more than any look needs, and compiled within the budget of a reload.
    static let valueLimit = 20_000

    /// Tells the handles of this run from those that a script kept from an earlier one.
    let serial: Int32
    let parameterNames: [String]
    /// Known while the kernel is traced; nil inside for one that nobody gave and that has no default.
    let options: [String: OptionValue?]
    /// Parameters that are colours, and so arrive in the kernel's own space.
    let colours: Set<String>
    let inputCount: Int
    /// The parameters of a kernel for sound; nil for one for pictures.
    var soundParameters: [ParameterSchema]?
    var builder: KernelBuilder
    private var values: [Int: Value] = [:]
    /// Conditions that nothing has used yet, by instance: Lua's `if` cannot look at them, and does not tell.
    private var unusedConditions: [Int32: (words: String, location: SourceLocation?)] = [:]
    private var conditionCount: Int32 = 0

    init(
        serial: Int32, builder: KernelBuilder, parameterNames: [String], colours: Set<String>,
        options: [String: OptionValue?], inputCount: Int
    ) {
        self.colours = colours
        self.options = options
        self.serial = serial
        self.builder = builder
        self.parameterNames = parameterNames
        self.inputCount = inputCount
    }

    func value(_ handle: Handle) -> Value? {
        if handle.b > 0 { unusedConditions[handle.b] = nil }
        return handle.c == serial ? values[Int(handle.a)] : nil
    }

    func push(_ value: Value, condition: String? = nil, _ call: LuaCall) {
        values[value.index] = value
        var instance: Int32 = 0
        if let condition {
            conditionCount += 1
            instance = conditionCount
            unusedConditions[instance] = (condition, call.location)
        }
        call.push(Handle(.pixel, Int32(truncatingIfNeeded: value.index), instance, serial))
    }

    /// - Throws: `PatchError.kernel` when a condition was made and never used.
    func checkConditions() throws {
        guard let (_, condition) = unusedConditions.min(by: { $0.key < $1.key }) else { return }
        throw PatchError(
            .kernel,
            "the result of \(condition.words) is never used: `if`, `and`, `or` and `not` cannot look at pixel values",
            remedy: "write select(\(condition.words), a, b); join conditions with &, | and ~", at: condition.location)
    }
}
