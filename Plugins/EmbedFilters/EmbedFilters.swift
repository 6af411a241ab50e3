import Foundation
import PackagePlugin

/// Makes the filter library's Lua files and the looks of graphs/looks part of PatchFilters: adding a file is all it takes.
@main
struct EmbedFilters: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
        let library = target.directoryURL.appending(path: "Library")
        let output = context.pluginWorkDirectoryURL.appending(path: "FilterLibrary+Texts.swift")
        let looks = context.package.directoryURL.appending(path: "graphs/looks")
        let files = [library, looks].flatMap { folder in
            FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?
                .compactMap { $0 as? URL }.filter { $0.pathExtension == "lua" }.sorted { $0.path < $1.path } ?? []
        }
        return [
            .buildCommand(
                displayName: "Embedding the filter library",
                executable: try context.tool(named: "EmbedFiltersTool").url,
                arguments: [library.path, looks.path, output.path], inputFiles: files, outputFiles: [output])
        ]
    }
}
