import PatchFFmpeg
import PatchLua

/// The filter library: names, parameters and Lua texts.
public typealias FilterCatalog = PatchLua.FilterCatalog
/// Cameras, displays and microphones of this machine.
public typealias Devices = PatchFFmpeg.Devices
public typealias DeviceDescription = PatchFFmpeg.DeviceDescription
