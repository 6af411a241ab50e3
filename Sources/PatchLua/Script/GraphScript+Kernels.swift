internal import CLua
import PatchGraph

/// `kernel{ … }` in a graph: makes a look, which makes nodes.
extension GraphScript {
    func installKernels(_ call: LuaCall) {
        language.defaultName = { [unowned self] in modulesLoading.last ?? "kernel" }
        language.install { [unowned self] filter, call in
            guard model.looks.count < options.limits.nodes else {
                throw call.error(
                    "the graph has more than \(options.limits.nodes) kernels", "make kernels once, outside handlers",
                    code: .budget)
            }
            call.push(Handle(.look, add(look(kind: filter.name, filter))))
            return 1
        }
        // One word for two things: GLSL's logarithm inside kernels, a line in the log elsewhere.
        define("log") { script, call in
            let isMath = script.language.trace != nil && call.count > 0 && call.kind(1) != .string
            return isMath ? try script.language.apply(.log, call) : try script.log(call)
        }
    }
}
