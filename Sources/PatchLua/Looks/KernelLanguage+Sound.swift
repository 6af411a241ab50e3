internal import CLua
import PatchGraph
import PatchKernel
import PatchMedia

/// `audio.kernel{ … }`: kernels for sound, traced as those for pictures are.
extension KernelLanguage {
    private static let soundWords = ["summary", "params", "sample", "frame", "channels"]
    private static let shape = "write audio.kernel{ sample = function(s, p) return s * 0.5 end }"

    /// Makes a kernel for sound of the table at index 1.
    /// - Throws: `PatchError` with the script's line.
    func defineSound(_ call: LuaCall) throws -> SoundKernel {
        guard trace == nil else {
            throw call.error("a kernel cannot be made inside a kernel", "make it outside the function")
        }
        guard call.kind(1) == .table else { throw call.error("audio.kernel takes a table", Self.shape) }
        lua_settop(call.pointer, 1)
        try checkWords(1, Self.soundWords, "audio.kernel", call)
        let summary = try text(1, "summary", call) ?? ""
        let parameters = try parameterSchemas(call)
        call.pushField(1, "sample")
        let isSample = !call.isAbsent(-1)
        call.pushField(1, "frame")
        let isFrame = !call.isAbsent(-1)
        guard isSample != isFrame else {
            throw call.error(
                "audio.kernel has \(isSample ? "both sample and frame" : "no function")",
                isSample ? "keep one: sample sees one channel at a time, frame all of them" : Self.shape)
        }
        let word = isSample ? "sample" : "frame"
        let unit = isSample ? SoundKernel.Unit.sample : .frame(channels: try soundChannels(call))
        if isSample {
            call.pushField(1, "channels")
            guard call.isAbsent(-1) else {
                throw call.error(
                    "sample of audio.kernel sees one channel at a time", "leave channels out, or write frame")
            }
            call.pop()
        }
        let function = lua_gettop(call.pointer) - (isSample ? 1 : 0)
        guard call.kind(function) == .function else {
            throw call.error("\(word) of audio.kernel is \(call.describe(function))", Self.shape)
        }
        call.pushCopy(function)
        let place = try inspect(word, inputCount: 1, [:], call)
        serial &+= 1
        let trace = KernelTrace(
            serial: serial, builder: SoundKernelBuilder.make(name: "sound", parameters: parameters),
            parameterNames: parameters.map(\.name), colours: [], options: [:], inputCount: 1)
        trace.soundParameters = parameters
        self.trace = trace
        defer { self.trace = nil }
        lua_checkstack(call.pointer, 8)
        let input = try build(call) { builder throws(KernelError) in try SoundKernelBuilder.input(unit, &builder) }
        trace.push(input, call)
        call.push(Handle(.parameters, 0, 0, Int(serial)))
        try call.call(arguments: 2, results: 1)
        guard !call.isAbsent(-1) else {
            throw PatchError(.kernel, "\(word) returns nothing", remedy: "end it with return …", at: place)
        }
        let result = try operand(-1, of: "\(word) of audio.kernel", call)
        try trace.checkConditions()
        do {
            let kernel = try SoundKernelBuilder.finish(result, unit, &trace.builder)
            return SoundKernel(summary: summary, parameters: parameters, unit: unit, kernel: kernel)
        } catch {
            let example = isSample ? "return a number for one sample" : "return \(unit.type.rawValue)(…)"
            throw PatchError(
                error.code == .budget ? .budget : .kernel, error.message,
                remedy: error.remedy.isEmpty ? example : error.remedy, at: place)
        }
    }

    /// How many channels `frame` sees: stereo unless it says otherwise.
    private func soundChannels(_ call: LuaCall) throws -> Int {
        call.pushField(1, "channels")
        defer { call.pop() }
        if call.isAbsent(-1) { return 2 }
        guard let count = call.integer(-1), (1...4).contains(count) else {
            throw call.error("channels of audio.kernel is \(call.describe(-1))", "it is 1, 2, 3 or 4")
        }
        return count
    }

    /// What `time` and its like are while a kernel for sound is traced.
    func soundBuiltin(_ name: String, _ parameters: [ParameterSchema], _ call: LuaCall) throws -> Value {
        guard name == "time" else {
            throw call.error(
                "'\(name)' is known in kernels for pictures only", "for sound there are time and phase(hertz)",
                code: .kernel)
        }
        return try build(call) { builder throws(KernelError) in try SoundKernelBuilder.time(parameters, &builder) }
    }

    /// `phase(hertz)`: how far a tone is in its cycle, 0…1.
    func installSound() {
        define("phase") { language, call in
            guard let trace = language.trace, let parameters = trace.soundParameters else {
                throw call.error("phase is known only inside audio.kernel{ … }", "use time", code: .kernel)
            }
            let hertz = try language.operand(1, of: "phase", call)
            guard hertz.type == .float else {
                throw call.error("phase takes a frequency in Hz, not a \(hertz.type.rawValue)", code: .kernel)
            }
            let value = try language.build(call) { builder throws(KernelError) in
                try SoundKernelBuilder.phase(hertz, parameters, &builder)
            }
            trace.push(value, call)
            return 1
        }
    }
}
