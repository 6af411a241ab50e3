internal import CLua
import PatchGraph
import PatchKernel
import PatchMedia

/// Constructors: one for each kind in the registry, and for each filter of the library.
extension GraphScript {
    func installNodes(_ call: LuaCall) {
        var families: Set<String> = ["filter"]
        for schema in registry.schemas {
            if let dot = schema.kind.firstIndex(of: ".") {
                families.insert(String(schema.kind[..<dot]))
            } else if schema.kind != "color" {
                define(schema.kind) { script, call in try script.construct(script.registered(schema), call) }
            }
        }
        for name in catalog.names { if let dot = name.firstIndex(of: ".") { families.insert(String(name[..<dot])) } }
        families.remove("transformer")
        for family in registry.families {
            define(family.name) { script, call in try script.constructMember(of: family, call) }
        }
        define("color") { script, call in try script.constructColor(call) }
        define("transformer") { script, call in try script.constructTransformer(call) }

        state.defineHandle(.namespace) { [unowned self] call in
            define("__index") { script, call in try script.member(call) }
            define("__newindex") { _, call in throw call.error("the library's filters cannot be changed") }
            define("__call") { script, call in
                let family = script.families[call.handle(1)?.index ?? 0]
                if family == "transition" { return try script.makeTransition(call) }
                throw call.error("\(family) is a family of filters", "write \(family).name{ … }")
            }
        }
        self.families = families.sorted()
        for (index, family) in self.families.enumerated() {
            call.push(Handle(.namespace, index))
            call.setField(family)
        }
        state.defineHandle(.look) { [unowned self] call in
            define("__call") { script, call in
                let look = script.model.looks[call.handle(1)?.index ?? 0]
                patch_remove(call.pointer, 1)
                if look.isSoundKernelMaker { return try script.makeSoundKernel(call) }
                return try script.construct(look, call)
            }
            define("__shr") { script, call in try script.wireOperator(call) }
            define("__index") { script, call in
                // A look that is wired as it stands has one node with its defaults: its methods are that node's.
                let node = try script.nodeOfLook(call.handle(1)?.index ?? 0, call)
                script.pushShared(Handle(.node, node), call)
                lua_copy(call.pointer, -1, 1)
                call.pop()
                return try script.readNode(call)
            }
            define("__newindex") { script, call in
                let name = script.model.looks[call.handle(1)?.index ?? 0].schema.kind
                throw call.error("\(name) is not a node yet", "give its values in \(name){ … }")
            }
            define("__tostring") { script, call in
                call.push(script.model.looks[call.handle(1)?.index ?? 0].schema.kind)
                return 1
            }
        }
    }

    /// `filter.NAME`: a library filter or a registered kind.
    private func member(_ call: LuaCall) throws -> Int32 {
        let family = families[call.handle(1)?.index ?? 0]
        guard let name = call.string(2) else {
            throw call.error("\(family) has filters by name, not \(call.describe(2))", "write \(family).name{ … }")
        }
        guard let look = try look(named: "\(family).\(name)", call) else {
            let names = memberNames(of: family)
            let nearest = Spelling.nearest(to: name, in: names)
            throw call.error(
                "there is no \(family).\(name)",
                nearest.map { "did you mean \(family).\($0)?" } ?? "`patchbay filters` lists what there is")
        }
        call.push(Handle(.look, add(look)))
        return 1
    }

    func memberNames(of family: String) -> [String] {
        let registered = registry.schemas.map(\.kind).filter { $0.hasPrefix(family + ".") }.map {
            String($0.dropFirst(family.count + 1))
        }
        let library = catalog.names.compactMap { name -> String? in
            if family == "filter" { return name.contains(".") ? nil : name }
            return name.hasPrefix(family + ".") ? String(name.dropFirst(family.count + 1)) : nil
        }
        return registered + library + (family == "audio" ? ["kernel"] : [])
    }

    /// A filter by its kind, such as `filter.brightness`.
    func look(named kind: String, _ call: LuaCall) throws -> GraphModel.Look? {
        if let known = registry[kind]?.schema { return GraphModel.Look(schema: known) }
        if kind == GraphModel.Look.soundKernelMaker.schema.kind { return .soundKernelMaker }
        let name = kind.hasPrefix("filter.") ? String(kind.dropFirst(7)) : kind
        guard catalog.names.contains(name) else { return nil }
        let filter: KernelFilter
        do { filter = try catalog.filter(name) } catch let error as PatchError { throw error.placed(at: call.location) }
        return self.look(kind: kind, filter)
    }

    func look(kind: String, _ filter: KernelFilter) -> GraphModel.Look {
        let options =
            filter.sizing == .input
            ? filter.options
            : filter.options + [
                OptionSchema(
                    "size", .size, "Size of the result.", unit: "px",
                    required: filter.sizing == .required,
                    default: filter.sizing == .optional ? "the first input's size" : "")
            ]
        return GraphModel.Look(
            schema: NodeSchema(
                kind: kind, role: .filter, summary: filter.summary, options: options, parameters: filter.parameters,
                ports: filter.ports),
            filter: filter)
    }

    func add(_ look: GraphModel.Look) -> Int {
        // Asking for the same filter again must not pile up entries: a handler may do so for ever.
        if let known = model.looks.firstIndex(where: {
            $0.schema.kind == look.schema.kind && $0.filter == look.filter && $0.sound == look.sound
                && $0.node == nil
        }) {
            return known
        }
        model.looks.append(look)
        return model.looks.count - 1
    }

    private func registered(_ schema: NodeSchema) -> GraphModel.Look { GraphModel.Look(schema: schema) }

    /// `color{ "name", rgba = … }` is a source; `color{ "name", "#rrggbb" }` is a control.
    private func constructColor(_ call: LuaCall) throws -> Int32 {
        if call.kind(1) == .table {
            call.pushElement(1, 2)
            let isControl = !call.isAbsent(-1)
            call.pop()
            if isControl { return try declareControl(.color, call) }
        }
        guard let schema = registry["color"]?.schema else {
            throw call.error("this program has no color source", "for a control write color{ \"name\", \"#rrggbb\" }")
        }
        if call.kind(1) == .table {
            call.pushElement(1, 1)
            if call.string(-1)?.hasPrefix("#") == true {
                // color{ "#rrggbb" }: the colour takes the place of a name.
                lua_pushvalue(call.pointer, 1)
                patch_insert(call.pointer, -2)
                call.setField("rgba")
                call.pop()
                call.pushNil()
                lua_rawseti(call.pointer, 1, 1)
            } else {
                call.pop()
            }
        }
        return try construct(registered(schema), call)
    }

    /// `transformer{ "name" }`: a filter that the host program registered.
    private func constructTransformer(_ call: LuaCall) throws -> Int32 {
        guard call.kind(1) == .table else {
            throw call.error("transformer takes a table", "write transformer{ \"name\" }")
        }
        call.pushElement(1, 1)
        guard let name = call.string(-1) else {
            throw call.error("transformer needs the name that the program registered", "write transformer{ \"name\" }")
        }
        call.pop()
        let kinds = registry.schemas.filter { schema in
            guard schema.role == .filter, !schema.kind.hasPrefix("audio.") else { return false }
            switch registry[schema.kind]?.factory {
            case .processor?, .sound?: return true
            default: return false
            }
        }.map(\.kind)
        guard let kind = kinds.first(where: { $0 == name || $0 == "transformer." + name }),
            let schema = registry[kind]?.schema
        else {
            let names = kinds.map { $0.hasPrefix("transformer.") ? String($0.dropFirst(12)) : $0 }
            throw call.error(
                "no transformer '\(name)' is registered",
                Spelling.nearest(to: name, in: names).map { "did you mean '\($0)'?" }
                    ?? (names.isEmpty
                        ? "the program that runs the graph registers none"
                        : "there are: \(names.joined(separator: ", "))"))
        }
        return try construct(registered(schema), call)
    }

    /// `frei0r{ "cartoon" }`: a member of a family that is found by name.
    private func constructMember(of family: NodeFamily, _ call: LuaCall) throws -> Int32 {
        var name = call.string(1)
        if call.kind(1) == .table {
            call.pushElement(1, 1)
            name = call.string(-1)
            call.pop()
        }
        guard let name else {
            throw call.error(
                "\(family.name) needs a name first",
                "write \(family.name){ \"\(family.members().first ?? "name")\", … }")
        }
        let kind: NodeKind
        do { kind = try registry.member(name, of: family.name) } catch let error as PatchError {
            throw error.placed(at: call.location)
        }
        return try construct(registered(kind.schema), call)
    }

    // MARK: Making nodes

    /// The node of a look that was wired without `{ … }`.
    func nodeOfLook(_ index: Int, _ call: LuaCall) throws -> Int {
        if let node = model.looks[index].node { return node }
        call.pushTable()
        let node = try makeNode(model.looks[index], call, table: lua_gettop(call.pointer), name: nil)
        call.pop()
        model.looks[index].node = node
        return node
    }

    /// A constructor that is a word of its own.
    func construct(filter kind: String, _ call: LuaCall) throws -> Int32 {
        guard let look = try look(named: kind, call) else { throw call.error("there is no \(kind)") }
        return try construct(look, call)
    }

    private func construct(_ look: GraphModel.Look, _ call: LuaCall) throws -> Int32 {
        let kind = look.schema.kind
        let name: String?
        switch call.kind(1) {
        case .string:
            name = call.string(1)
            lua_settop(call.pointer, 0)
            call.pushTable()
        case .table:
            call.pushElement(1, 1)
            name = call.string(-1)
            if name == nil, !call.isAbsent(-1) {
                throw call.error("the name of \(kind) is \(call.describe(-1))", "write \(kind){ \"name\", … }")
            }
            call.pop()
        case .none, .null:
            throw call.error("\(kind) takes a table", "write \(kind){ … }")
        default:
            throw call.error("\(kind) takes a table, not \(call.describe(1))", "write \(kind){ … }")
        }
        lua_settop(call.pointer, 1)
        if let option = look.schema.positional {
            return try constructPositional(look, option, name, call)
        }
        let node = try makeNode(look, call, table: 1, name: name)
        pushShared(Handle(.node, node), call)
        return 1
    }

    /// The first value is an option, and the name is written `name =`.
    private func constructPositional(
        _ look: GraphModel.Look, _ option: String, _ first: String?, _ call: LuaCall
    ) throws -> Int32 {
        call.pushField(1, "name")
        let name = call.string(-1)
        guard name != nil || call.isAbsent(-1) else {
            throw call.error("the name of \(look.schema.kind) is \(call.describe(-1))", "write name = \"…\"")
        }
        call.pop()
        let node = try makeNode(look, call, table: 1, name: name, positional: first.map { (option, $0) })
        pushShared(Handle(.node, node), call)
        return 1
    }

    func makeNode(
        _ look: GraphModel.Look, _ call: LuaCall, table: Int32, name: String?,
        positional: (option: String, value: String)? = nil
    ) throws -> Int {
        var schema = look.schema
        guard !look.isSoundKernelMaker else {
            throw call.error(
                "audio.kernel is no node yet", "write audio.kernel{ sample = function(s, p) return s * 0.5 end }")
        }
        guard model.patch.nodes.count < options.limits.nodes else {
            throw call.error(
                "the graph has more than \(options.limits.nodes) nodes", "make nodes once, outside handlers",
                code: .budget)
        }
        let (names, positions) = try call.keys(table)
        if let extra = positions.first(where: { $0 != 1 }) {
            throw call.error(
                "\(schema.kind) has a value at position \(extra)", "all but the name are written name = value")
        }
        let id = try identifier(name, kind: schema.kind, call)
        var node = PatchNode(
            id: id, kind: schema.kind, body: look.body, at: call.location,
            isNamed: name != nil)
        let optionReader = OptionReader(script: self, call: call, kind: schema.kind, role: schema.role)
        let parameterReader = ParameterReader(script: self, call: call, kind: schema.kind)
        var ports: [String] = []
        if let positional { node.options.values[positional.option] = .string(positional.value) }
        if let key = schema.portsOption, let option = schema.options.first(where: { $0.name == key }) {
            call.pushField(table, key)
            defer { call.pop() }
            if !call.isAbsent(-1) {
                let value = try optionReader.read(option, at: -1)
                node.options.values[key] = value
                schema.ports = try portNames(value, schema.kind, call)
            }
        }
        for key in names where schema.positional == nil || key != "name" {
            call.pushField(table, key)
            defer { call.pop() }
            if schema.kind == "input", key == "default" {
                node.options.values[key] = .string(try inputDefault(call))
            } else if let option = schema.options.first(where: { $0.name == key }) {
                node.options.values[key] = try optionReader.read(option, at: -1)
            } else if let parameter = schema.parameters.first(where: { $0.name == key }) {
                node.parameters[key] = try parameterReader.read(parameter, at: -1)
            } else if schema.ports.contains(key), schema.role != .source {
                ports.append(key)
            } else {
                let known = schema.options.map(\.name) + schema.parameters.map(\.name) + schema.ports
                let list = known.isEmpty ? "it takes only a name" : "it takes \(known.sorted().joined(separator: ", "))"
                throw call.error(
                    "\(schema.kind) has no '\(key)'",
                    Spelling.nearest(to: key, in: known).map { "did you mean '\($0)'?" } ?? list)
            }
        }
        for option in schema.options where option.isRequired && node.options.values[option.name] == nil {
            throw call.error("\(schema.kind) needs \(option.name) =", option.summary)
        }
        if let filter = try filter(of: look, options: node.options, call) { node.body = .kernels(filter) }
        model.patch.nodes.append(node)
        model.schemas.append(schema)
        let index = model.patch.nodes.count - 1
        model.nodeIndices[id] = index
        for port in ports {
            call.pushField(table, port)
            defer { call.pop() }
            let ends = try outputs(at: -1, call)
            let position = schema.ports.firstIndex(of: port)
            for end in ends { try connect(end, GraphModel.InputEnd(node: index, port: position), call) }
        }
        return index
    }

    /// Names of ports that the node itself gives.
    private func portNames(_ value: OptionValue, _ kind: String, _ call: LuaCall) throws -> [String] {
        guard case .list(let names) = value, (1...16).contains(names.count), Set(names).count == names.count else {
            throw call.error("the inputs of \(kind) are 1 to 16 different names", "write inputs = { \"a\", \"b\" }")
        }
        for name in names {
            guard let first = name.utf8.first, first > 57 || first < 48, name.utf8.count <= 32,
                name.utf8.allSatisfy({ $0 == 95 || 48...57 ~= $0 || 65...90 ~= $0 || 97...122 ~= $0 })
            else {
                throw call.error(
                    "\"\(name.prefix(32))\" is no name for an input", "use letters, digits and _, a letter first")
            }
        }
        return names
    }

    /// Adds a node that is not made of a look; `make` gets its id.
    func addNode(named name: String?, kind: String, _ call: LuaCall, _ make: (NodeID) throws -> PatchNode) throws -> Int
    {
        guard model.patch.nodes.count < options.limits.nodes else {
            throw call.error(
                "the graph has more than \(options.limits.nodes) nodes", "make nodes once, outside handlers",
                code: .budget)
        }
        let node = try make(try identifier(name, kind: kind, call))
        model.patch.nodes.append(node)
        model.schemas.append(NodeSchema(kind: kind, role: .filter, summary: "", ports: []))
        model.nodeIndices[node.id] = model.patch.nodes.count - 1
        return model.patch.nodes.count - 1
    }

    /// What an unbound `input` falls back to. It is the script that says it, so it may not lie anywhere as a binding may.
    private func inputDefault(_ call: LuaCall) throws -> String {
        var words = ["camera", "test"]
        if case .choice(let choices)? = registry["input"]?.schema.options.first(where: { $0.name == "default" })?.form {
            words = choices
        }
        guard let text = call.string(-1) else {
            throw call.error(
                "default of input is \(call.describe(-1))",
                "it is \(words.joined(separator: ", ")), a file below the graph's folder, or a URL")
        }
        if words.contains(text) { return text }
        if text.hasPrefix("/dev/video") && !text.contains("..") { return text }
        if text.contains("://") {
            let reader = OptionReader(script: self, call: call, kind: "input", role: .source)
            _ = try reader.read(OptionSchema("default", .url, ""), at: -1)
            return text
        }
        if !text.contains("."), let near = Spelling.nearest(to: text, in: words) {
            throw call.error("default of input is \"\(text)\"", "did you mean \"\(near)\"?")
        }
        return try assetPath(text, call)
    }

    private func identifier(_ name: String?, kind: String, _ call: LuaCall) throws -> NodeID {
        if let name {
            guard !name.isEmpty, name.utf8.count <= 64, !name.contains(where: { $0.isNewline || $0 == "\t" }) else {
                throw call.error("\"\(name.prefix(64))\" is no name for a node", "use 1 to 64 letters and digits")
            }
            if let other = model.nodeIndices[name] {
                let place = model.patch.nodes[other].location.map { " at \($0)" } ?? ""
                throw call.error("there is a node '\(name)' already\(place)", "names are unique: choose another")
            }
            return name
        }
        while true {
            let number = (model.derivedIDs[kind] ?? 0) + 1
            model.derivedIDs[kind] = number
            let id = "\(kind)#\(number)"
            if model.nodeIndices[id] == nil { return id }
        }
    }
}
