import PatchFFmpeg
import PatchFilters
import PatchGraph
import PatchMedia

/// `input` with what needs other kinds: the binding `test`, and a default for when nothing is bound.
enum InputBinding {
    /// The kind `input` of `kinds`, which also takes `--bind name=test` and `default = "camera"` or `"test"`.
    static func kind(of kinds: [NodeKind]) -> NodeKind? {
        guard let input = kinds.first(where: { $0.schema.kind == "input" }), case .source(let bound) = input.factory
        else { return nil }
        var schema = input.schema
        schema.summary = "A source by a name that each machine binds: --bind NAME=FILE|URL|DEVICE|test."
        schema.options.append(
            OptionSchema(
                "default", .choice(["camera", "test"]), "What it is where nothing is bound: the first camera, or bars.",
                default: "an error that says how to bind it"))
        return NodeKind(
            schema,
            .source { options, environment in
                let binding = environment.bindings[environment.nodeID] ?? ""
                switch binding.isEmpty ? options.string("default") : binding {
                case "test": return try source("testPattern", of: kinds, options.keeping(["size", "fps"]), environment)
                case "camera" where binding.isEmpty:
                    return try source(
                        "camera", of: kinds, options.keeping(["size", "fps", "orientation", "mirror"]), environment)
                default: return try bound(options, environment)
                }
            })
    }

    private static func source(
        _ kind: String, of kinds: [NodeKind], _ options: NodeOptions, _ environment: NodeEnvironment
    ) throws -> any MediaSource {
        guard case .source(let make)? = kinds.first(where: { $0.schema.kind == kind })?.factory else {
            throw PatchError(
                .unavailable, "this program has no source '\(kind)'", node: environment.nodeID, at: environment.location
            )
        }
        return try make(options, environment)
    }
}

extension NodeOptions {
    fileprivate func keeping(_ names: Set<String>) -> NodeOptions {
        NodeOptions(values.filter { names.contains($0.key) })
    }
}
