import Patchbay

/// `patchbay devices`: what this machine can take pictures from.
enum DevicesCommand: Command {
    static let specification = CommandSpecification(
        name: "devices", summary: "List cameras, displays and microphones of this machine",
        options: [GraphOptions.json],
        discussion:
            "Give a device to a graph with --bind NAME=DEVICE, or to camera{device = …} and screen{display = …}.",
        examples: ["patchbay devices", "patchbay run graphs/beautify.lua --bind cam=/dev/video2"])

    static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        let devices = Devices.list()
        if arguments.has("json") {
            let all = devices.map { device -> JSON in
                .object([
                    ("kind", .string(device.kind.rawValue)), ("device", .string(device.name)),
                    ("title", .string(device.title)),
                    ("formats", .array(device.formats.map { .string($0) })),
                ])
            }
            console.print(JSON.array(all).encoded(pretty: true))
            return .success
        }
        if devices.isEmpty { console.note("no camera, display or microphone found") }
        for device in devices {
            console.print("\(device.kind.rawValue) \(device.name): \(device.title)")
            for format in device.formats { console.print("  \(format)") }
        }
        return .success
    }
}
