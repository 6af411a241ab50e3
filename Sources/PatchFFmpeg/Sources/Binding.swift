import PatchGraph
import PatchMedia

/// What `--bind name=…` may name: a device, a URL or a file. The operator says it, so that it may lie anywhere.
enum Binding {
    static func source(
        _ options: NodeOptions, _ environment: NodeEnvironment, standIns: [String: NodeKind]
    ) throws -> any MediaSource {
        let name = environment.nodeID
        let bound = environment.bindings[name].flatMap { $0.isEmpty ? nil : $0 } ?? options.string("default")
        guard let target = bound else {
            throw PatchError(
                .usage, "input '\(name)' is not bound", remedy: "say what it is with --bind \(name)=FILE|URL|DEVICE")
        }
        var playback = MediaSources.playback(options, loops: !environment.isOffline)
        playback.orientation = OrientationOptions.orientation(options)
        if case .source(let make)? = standIns[target]?.factory { return try make(options, environment) }
        if target == "camera" || target.hasPrefix("/dev/video") {
            let device = target == "camera" ? nil : target
            return LibavSource(
                try .camera(device, size: options.size("size"), fps: options.number("fps")), playback: playback,
                options: options, environment: environment)
        }
        if isDisplay(target) {
            return LibavSource(
                try .screen(target, region: nil, fps: options.number("fps"), cursor: true), playback: playback,
                options: options, environment: environment)
        }
        if target.firstRange(of: "://") != nil {
            let url = Secret(value: target, redacted: target)
            let address: InputAddress = isFileLike(target) ? try .remoteFile(url) : try .stream(url)
            return LibavSource(address, playback: playback, options: options, environment: environment)
        }
        if imageExtensions.contains(fileExtension(target)) {
            return ImageSource(
                target, size: options.size("size"), orientation: playback.orientation, environment: environment)
        }
        if !environment.isOffline, InputAddress.isPipe(target) {
            return LibavSource(.pipe(target), playback: playback, options: options, environment: environment)
        }
        return LibavSource(try .file(target), playback: playback, options: options, environment: environment)
    }

    /// `:0`, `:99.0`
    private static func isDisplay(_ text: String) -> Bool {
        text.hasPrefix(":") && text.count > 1 && text.dropFirst().allSatisfy { $0.isNumber || $0 == "." }
    }

    /// HTTP is a file, unless it is a playlist.
    private static func isFileLike(_ url: String) -> Bool {
        let lowered = url.lowercased()
        guard lowered.hasPrefix("http://") || lowered.hasPrefix("https://") else { return false }
        let path = lowered.prefix { $0 != "?" && $0 != "#" }
        return !path.hasSuffix(".m3u8") && !path.hasSuffix(".mpd")
    }

    private static func fileExtension(_ path: String) -> String {
        guard let dot = path.lastIndex(of: "."), !path[dot...].contains("/") else { return "" }
        return path[path.index(after: dot)...].lowercased()
    }

    private static let imageExtensions: Set<String> = [
        "png", "jpg", "jpeg", "webp", "svg", "bmp", "tif", "tiff", "jxl", "jp2", "tga", "pgm", "ppm", "exr",
    ]
}
