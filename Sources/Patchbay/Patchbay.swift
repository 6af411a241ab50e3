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

extension NodeRegistry {
    /// Every kind of node that this library has: media and devices through FFmpeg, generated pictures, windows, raw data.
    /// - Parameter rawData: where `rawDataOutput` nodes find the host program's closures.
    public static func standard(rawData: RawDataHandlers = RawDataHandlers()) -> NodeRegistry {
        let registry = NodeRegistry(
            MediaSources.kinds(standIns: PatternSources.standIns) + PatternSources.kinds
                + MediaSinks.kinds + FFmpegGuests.kinds + DisplaySink.kinds + SoundNodes.kinds
                + [RawDataOutput.kind(handlers: rawData), .delay, ReplayNode.kind],
            operators: NativeOperators.all)
        registry.register(Frei0rGuests.family)
        return registry
    }
}
