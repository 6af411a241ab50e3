import Foundation
import PackagePlugin

/// Makes the filter library's Lua files part of PatchFilters: adding a file under Library is all it takes.
@main
struct EmbedFilters: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
        let library = target.directoryURL.appending(path: "Library")
        let output = context.pluginWorkDirectoryURL.appending(path: "FilterLibrary+Texts.swift")
        let files = FileManager.default.enumerator(at: library, includingPropertiesForKeys: nil)?
            .compactMap { $0 as? URL }.filter { $0.pathExtension == "lua" }.sorted { $0.path < $1.path }
        return [
            .buildCommand(
                displayName: "Embedding the filter library",
                executable: try context.tool(named: "EmbedFiltersTool").url,
                arguments: [library.path, output.path], inputFiles: files ?? [], outputFiles: [output])
        ]
    }
}
