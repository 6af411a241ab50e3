// `import Patchbay` is all that an app needs: frames, patches, the engine, and every node.
@_exported import PatchDisplay
@_exported import PatchFFmpeg
@_exported import PatchFilters
@_exported import PatchGraph
@_exported import PatchKernel
@_exported import PatchLua
@_exported import PatchMedia

extension NodeRegistry {
    /// Every kind of node that this library has: media and devices through FFmpeg, generated pictures, windows, raw data.
    /// - Parameter rawData: where `rawDataOutput` nodes find the host program's closures.
    public static func standard(rawData: RawDataHandlers = RawDataHandlers()) -> NodeRegistry {
        NodeRegistry(
            MediaSources.kinds(standIns: ["test": PatternSources.testPattern]) + PatternSources.kinds
                + MediaSinks.kinds + DisplaySink.kinds + [RawDataOutput.kind(handlers: rawData), .delay],
            operators: NativeOperators.all)
    }
}
