internal import CLua
import PatchFilters
import PatchMedia

/// `require "library.NAME"`: formulas that several filters share, open to every look.
extension KernelLanguage {
    static let modulePrefix = "library."

    /// Loads the module that the call names.
    /// - Throws: `PatchError.script` with the names that there are.
    func requireLibrary(_ library: FilterLibrary, _ call: LuaCall) throws -> Int32 {
        let word = call.string(1) ?? call.describe(1)
        let name = word.hasPrefix(Self.modulePrefix) ? String(word.dropFirst(Self.modulePrefix.utf8.count)) : word
        guard let text = library.module(name), word.hasPrefix(Self.modulePrefix) else {
            let known = library.moduleNames
            throw call.error(
                "there is no module \"\(word)\"",
                Spelling.nearest(to: name, in: known).map { "did you mean \"\(Self.modulePrefix)\($0)\"?" }
                    ?? "there are: \(known.map { Self.modulePrefix + $0 }.joined(separator: ", "))")
        }
        if let known = libraryModules[name] {
            call.push(known)
            return 1
        }
        let file = "library/shared/\(name).lua"
        texts[file] = text
        try state.load(text, name: file, on: call.pointer)
        try call.call(arguments: 0, results: 1)
        call.pushCopy(-1)
        libraryModules[name] = call.keep()
        return 1
    }
}
