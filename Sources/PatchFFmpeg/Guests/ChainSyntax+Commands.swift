internal import CFFmpeg
import PatchMedia

extension ChainSyntax {
    /// Whether filters of the chain take a command.
    var takesCommands: Bool {
        filters.contains { avfilter_get_by_name($0.name).map { patch_takes_commands($0) != 0 } ?? false }
    }

    /// - Parameter target: a filter's name, name@id, or `all`.
    /// - Throws: `PatchError` when the chain has no such filter, or the filter cannot change the option while it runs.
    func checkCommand(_ target: String, _ name: String) throws {
        let named = filters.filter { $0.name == target || $0.instance == target || target == "all" }
        guard !named.isEmpty else {
            let names = filters.map(\.name)
            throw PatchError(
                .usage, "the ffmpeg chain has no filter '\(target)'",
                remedy: Spelling.nearest(to: target, in: names).map { "did you mean '\($0)'?" }
                    ?? "it has \(names.joined(separator: ", "))")
        }
        for filter in named {
            guard let known = avfilter_get_by_name(filter.name) else { continue }
            let options = FFmpegGuests.options(of: known)
            let live = options.filter(\.isLive).map(\.name)
            let isOption = options.contains { $0.name == name }
            if isOption, live.contains(name) || patch_takes_commands(known) != 0 { continue }
            // Short names and commands that are no options are libavfilter's to judge.
            if !isOption, patch_takes_commands(known) != 0 { continue }
            throw PatchError(
                .usage, "\(filter.name) cannot change '\(name)' while it runs",
                remedy: live.isEmpty
                    ? "it takes no commands: write the value in the chain"
                    : "it can change \(live.joined(separator: ", "))")
        }
    }
}
