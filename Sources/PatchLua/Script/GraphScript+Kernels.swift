internal import CLua
import PatchGraph
import PatchMedia

/// `kernel{ … }` in a graph: makes a look, which makes nodes.
extension GraphScript {
    func installKernels(_ call: LuaCall) {
        respecialise = state.register { [unowned self] call in
            specialised = try language.define(call)
            return 0
        }
        language.defaultName = { [unowned self] in modulesLoading.last ?? "kernel" }
        language.install { [unowned self] filter, call in
            guard model.looks.count < options.limits.nodes else {
                throw call.error(
                    "the graph has more than \(options.limits.nodes) kernels", "make kernels once, outside handlers",
                    code: .budget)
            }
            var look = look(kind: filter.name, filter)
            if !filter.options.isEmpty {
                call.pushCopy(1)
                look.definition = call.keep()
            }
            let index = add(look)
            if let definition = look.definition, model.looks[index].definition != definition {
                call.release(definition)
            }
            call.push(Handle(.look, index))
            return 1
        }
        // One word for two things: GLSL's logarithm inside kernels, a line in the log elsewhere.
        define("log") { script, call in
            let isMath = script.language.trace != nil && call.count > 0 && call.kind(1) != .string
            return isMath ? try script.language.apply(.log, call) : try script.log(call)
        }
    }

    /// The look's filter, built anew for the options that a node gives.
    func filter(of look: GraphModel.Look, options: NodeOptions, _ call: LuaCall) throws -> KernelFilter? {
        guard let filter = look.filter, !filter.options.isEmpty else { return look.filter }
        let names = Set(filter.options.map(\.name))
        let given = NodeOptions(options.values.filter { names.contains($0.key) })
        if given.values.isEmpty { return filter }
        guard let definition = look.definition, let respecialise else {
            let kind = look.schema.kind
            let name = kind.hasPrefix("filter.") ? String(kind.dropFirst(7)) : kind
            do { return try catalog.filter(name, options: given) } catch let error as PatchError {
                throw error.placed(at: call.location)
            }
        }
        language.givenOptions = given
        let name = language.defaultName
        language.defaultName = { filter.name }
        defer {
            language.givenOptions = NodeOptions()
            language.defaultName = name
        }
        specialised = nil
        state.pushFunction(respecialise, on: call.pointer)
        call.push(definition)
        try call.call(arguments: 1, results: 0)
        return specialised ?? filter
    }
}

/// `audio.kernel{ … }`, which makes a look for sound.
extension GraphScript {
    func makeSoundKernel(_ call: LuaCall) throws -> Int32 {
        guard model.looks.count < options.limits.nodes else {
            throw call.error(
                "the graph has more than \(options.limits.nodes) kernels", "make kernels once, outside handlers",
                code: .budget)
        }
        let kernel = try language.defineSound(call)
        var look = GraphModel.Look.soundKernelMaker
        look.sound = kernel
        look.schema.summary = kernel.summary
        look.schema.parameters = kernel.parameters
        call.push(Handle(.look, add(look)))
        return 1
    }
}

extension GraphModel.Look {
    /// The word `audio.kernel`, which is called to make one.
    static let soundKernelMaker = GraphModel.Look(
        schema: NodeSchema(kind: "audio.kernel", role: .filter, summary: "", ports: ["audio"]))

    var isSoundKernelMaker: Bool { schema.kind == Self.soundKernelMaker.schema.kind && sound == nil }

    var body: PatchNode.Body { filter.map { .kernels($0) } ?? sound.map { .sound($0) } ?? .registered }
}
