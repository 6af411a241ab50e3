internal import CLua
import Glibc
import PatchGraph
import PatchMedia

/// `require`, `group`, and the files that a script may name.
extension GraphScript {
    func installModules(_ call: LuaCall) {
        define("require") { script, call in try script.require(call) }
        define("group") { script, call in try script.makeGroup(call) }
        call.pushTable()
        modules = call.keep()
    }

    private func require(_ call: LuaCall) throws -> Int32 {
        guard let name = call.string(1) else {
            throw call.error("require takes a module's name, not \(call.describe(1))", "write require \"looks.warm\"")
        }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        let isProper = parts.allSatisfy { part in
            !part.isEmpty
                && part.utf8.allSatisfy { LuaPattern.matches($0, class: UInt8(ascii: "w")) || $0 == 0x5F || $0 == 0x2D }
        }
        guard isProper, name.utf8.count <= 200 else {
            throw call.error(
                "require \"\(name.prefix(200))\" is no module name",
                "write folder.file without .lua, below the graph's folder")
        }
        guard let modules else { return 0 }
        call.push(modules)
        call.pushField(-1, name)
        if !call.isAbsent(-1) { return 1 }
        call.pop()

        let relative = parts.joined(separator: "/") + ".lua"
        let path = folder + "/" + relative
        guard let real = ScriptFiles.real(path) else {
            if let text = builtInLook(name) {
                // A file of that name that appears later takes its place.
                noteMissing(path)
                return try run(text, name, relative, call)
            }
            if name.hasPrefix(KernelLanguage.modulePrefix) { return try language.requireLibrary(catalog.library, call) }
            if let look = try look(named: name.contains(".") ? name : "filter." + name, call) {
                call.push(Handle(.look, add(look)))
                return 1
            }
            noteMissing(path)
            let near = Set(ScriptFiles.names(in: ScriptFiles.folder(of: path), suffix: ".lua"))
                .union(parts.count == 2 && parts[0] == "looks" ? catalog.library.lookNames : [])
            let prefix = parts.dropLast().map { $0 + "." }.joined()
            throw call.error(
                "there is no module \"\(name)\": no file \(relative) below the graph's folder",
                Spelling.nearest(to: String(parts.last ?? ""), in: near).map { "did you mean \"\(prefix)\($0)\"?" }
                    ?? (near.isEmpty
                        ? "make the file" : "there are: \(near.sorted().map { prefix + $0 }.joined(separator: ", "))"))
        }
        guard ScriptFiles.isBelow(real, folder), ScriptFiles.isRegularFile(real) else {
            throw call.error("module \"\(name)\" lies outside the graph's folder", "copy it into the folder")
        }
        depend(on: real)
        let text: String
        do { text = try ScriptFiles.read(real, limit: options.limits.sourceSize) } catch let error as PatchError {
            throw error.placed(at: call.location)
        }
        return try run(text, name, relative, call)
    }

    /// The text of a look that the program comes with.
    private func builtInLook(_ name: String) -> String? {
        name.hasPrefix("looks.") ? catalog.library.look(String(name.dropFirst(6))) : nil
    }

    /// Runs a module and keeps what it returns.
    private func run(_ text: String, _ name: String, _ relative: String, _ call: LuaCall) throws -> Int32 {
        guard !modulesLoading.contains(name) else {
            throw call.error(
                "modules require each other in a ring: \((modulesLoading + [name]).joined(separator: " → "))",
                "move what both need into a third module")
        }
        guard let modules else { return 0 }
        language.texts[relative] = text
        modulesLoading.append(name)
        defer { modulesLoading.removeLast() }
        try state.load(WireStatements.rewrite(text), name: relative, on: call.pointer)
        call.push(name)
        try call.call(arguments: 1, results: 1)
        if call.isAbsent(-1) {
            call.pop()
            call.push(true)
        }
        call.push(modules)
        call.pushCopy(-2)
        call.setField(name)
        call.pop()
        return 1
    }

    /// The absolute path of a file that a node reads.
    /// - Throws: `PatchError.notFound` or `.script` when it is outside the graph's folder.
    func assetPath(_ text: String, _ call: LuaCall) throws -> String {
        let path = text.hasPrefix("/") ? text : folder + "/" + text
        guard !text.isEmpty, !text.contains("\0") else { throw call.error("a file name is empty", "name a file") }
        guard let real = ScriptFiles.real(path) else {
            // Do not tell a stranger's script what exists elsewhere.
            let wanted = ScriptFiles.resolvedForWriting(path)
            guard ScriptFiles.isBelow(wanted, folder) else { throw outside(text, call) }
            noteMissing(wanted)
            let near = ScriptFiles.names(in: ScriptFiles.folder(of: path), suffix: "")
            let directory = text.contains("/") ? ScriptFiles.folder(of: text) + "/" : ""
            throw call.error(
                "there is no file '\(text)' below the graph's folder",
                Spelling.nearest(to: ScriptFiles.name(of: path), in: near).map { "did you mean '\(directory)\($0)'?" }
                    ?? "put it beside the graph, or use input{ \"name\" } and --bind name=FILE", code: .notFound)
        }
        guard ScriptFiles.isBelow(real, folder) else { throw outside(text, call) }
        guard ScriptFiles.isRegularFile(real) else {
            throw call.error("'\(text)' is not a file", "name a file, not a folder or device")
        }
        depend(on: real)
        return real
    }

    private func outside(_ text: String, _ call: LuaCall) -> PatchError {
        call.error(
            "'\(text)' is outside the graph's folder", "copy it there, or use input{ \"name\" } and --bind name=FILE")
    }

    /// The path of a file that a node writes: below the working directory, the graph's folder, the folder for temporary
    /// files, or a folder that the program allows.
    func outputPath(_ text: String, _ call: LuaCall) throws -> String {
        if text == "-" || text == "/dev/null" { return text }
        guard !text.isEmpty, !text.contains("\0") else { throw call.error("a file name is empty", "name a file") }
        let working = ScriptFiles.workingDirectory
        let path = ScriptFiles.resolvedForWriting(text.hasPrefix("/") ? text : working + "/" + text)
        var temporary = "/tmp"
        if let variable = getenv("TMPDIR") { temporary = String(cString: variable) }
        let allowed = [working, folder, temporary] + options.outputDirectories
        guard allowed.contains(where: { ScriptFiles.isBelow(path, ScriptFiles.real($0) ?? $0) }) else {
            throw call.error(
                "'\(text)' is outside the folders that scripts may write to",
                "give a path below the working directory, such as out/\(ScriptFiles.name(of: text))")
        }
        return text
    }
}
