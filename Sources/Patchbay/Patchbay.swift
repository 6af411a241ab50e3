// `import Patchbay` is all that an app needs: frames, patches, the engine, and every node.
@_exported import PatchDisplay
@_exported import PatchFFmpeg
@_exported import PatchFilters
@_exported import PatchFrei0r
@_exported import PatchGraph
@_exported import PatchKernel
@_exported import PatchLua
@_exported import PatchMedia
@_exported import PatchSound
@_exported import PatchText

extension NodeRegistry {
    /// Every kind of node that this library has: media and devices through FFmpeg, generated pictures, windows, raw data.
    /// - Parameter rawData: where `rawDataOutput` nodes find the host program's closures.
    public static func standard(rawData: RawDataHandlers = RawDataHandlers()) -> NodeRegistry {
        let registry = NodeRegistry(
            MediaSources.kinds(standIns: PatternSources.standIns) + PatternSources.kinds + TextSource.kinds
                + MediaSinks.kinds + FFmpegGuests.kinds + FFmpegSound.kinds + DisplaySink.kinds + SoundNodes.kinds
                + [RawDataOutput.kind(handlers: rawData), .delay, ReplayNode.kind],
            operators: NativeOperators.all(lookups: .standard))
        registry.register(Frei0rGuests.family)
        return registry
    }
}

extension LookupTables {
    /// The tables of this process: .cube, .3dl, and pictures decoded by FFmpeg.
    public static let standard = LookupTables { try StillPicture.read($0) }
}

extension FilterCatalog {
    /// The program's own filters with the tables of this process.
    public static let standard = FilterCatalog(lookups: .standard)
}
