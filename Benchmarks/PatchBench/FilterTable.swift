import Foundation
import PatchGraph

/// What each filter of the library costs.
enum FilterTable {
    struct Line {
        var name: String
        /// At 1280×720 and 1920×1080; empty when it could not run.
        var milliseconds: [Double]
        /// Steps of the plan.
        var passes: Int
        var problem: String?

        var text: String {
            if let problem { return "\(name): could not run: \(problem)" }
            return "\(name): \(milliseconds.map(rounded).joined(separator: ", ")) ms in \(passes) steps"
        }
    }

    static let tableFile = "identity.cube"
    static let lookupFile = "identity.ppm"

    /// Tables that change nothing, for the filters that read one from a file.
    static func writeTables(into folder: String) throws {
        var cube = "LUT_3D_SIZE 33\n"
        for index in 0..<33 * 33 * 33 {
            let (red, green, blue) = (index % 33, index / 33 % 33, index / (33 * 33))
            cube += [red, green, blue].map { "\(Double($0) / 32)" }.joined(separator: " ") + "\n"
        }
        try cube.write(toFile: "\(folder)/\(tableFile)", atomically: true, encoding: .utf8)
        // GPUImage's picture: 8 × 8 squares of 64 × 64, blue by the square, red across, green down.
        var picture = Data("P6\n512 512\n255\n".utf8)
        for y in 0..<512 {
            for x in 0..<512 {
                picture += [x % 64, y % 64, y / 64 * 8 + x / 64].map { UInt8($0 * 255 / 63) }
            }
        }
        try picture.write(to: URL(fileURLWithPath: "\(folder)/\(lookupFile)"))
    }

    /// A graph with one filter, each port fed by a video, and each knob that stands on neutral turned away from it.
    static func graph(of filter: KernelFilter) -> String {
        let word = filter.name.contains(".") ? filter.name : "filter.\(filter.name)"
        var settings: [String] = []
        for schema in filter.parameters where schema.neutral == schema.defaultValue && schema.form != .bool {
            let range = schema.range ?? -1...1
            let values = schema.defaultValue.map { value -> Float in
                // A third of the way to the farther end: the filter works, and is not at its extreme.
                let end = range.upperBound - value >= value - range.lowerBound ? range.upperBound : range.lowerBound
                return value + (end - value) / 3
            }
            let numbers = values.map { "\($0)" }.joined(separator: ", ")
            settings.append("\(schema.name) = " + (values.count == 1 ? numbers : "{ \(numbers) }"))
        }
        // Written beside the graph by whoever runs it.
        if filter.options.contains(where: { $0.name == "file" && $0.isRequired }) {
            settings.append("file = '\(filter.name == "lookup" ? lookupFile : tableFile)'")
        }
        if filter.sizing == .required { settings.append("size = '1280x720'") }
        // In the middle of its way a transition has both pictures to do.
        if let ends = filter.ends {
            settings.removeAll { $0.hasPrefix("\(ends.parameter) =") }
            settings.append("\(ends.parameter) = 0.4")
        }
        let ports = filter.ports.indices.map { "picture{'p\($0)'}" }
        let wired =
            ports.isEmpty ? "" : ports.count == 1 ? "\(ports[0]) >> " : "{ \(ports.joined(separator: ", ")) } >> "
        return "\(wired)\(word){ \(settings.joined(separator: ", ")) } >> result{'out'}"
    }

    static func markdown(_ lines: [Line], threads: Int) -> String {
        let slow = lines.filter { ($0.milliseconds.first ?? 0) > 33 }
        let failed = lines.filter { $0.problem != nil }
        var text = """
            # What each filter costs

            Made by `scripts/bench filters`: milliseconds a frame, the median of 6 to 15 frames on \(threads) \
            thread\(threads == 1 ? "" : "s"), yuv420p in and out, all conversions included. Knobs that stand on neutral are turned \
            a third of the way to the farther end of their range; the others stand on their defaults. A step is a pass over \
            memory or a native operator. The machine is that of docs/performance.md.


            """
        text +=
            slow.isEmpty
            ? "No filter takes more than 33 ms at 1280×720, the time of a frame at 30 a second.\n"
            : "Above 33 ms at 1280×720: \(slow.map { "`\($0.name)`" }.joined(separator: ", ")).\n"
        if !failed.isEmpty {
            text += "\nCould not run: \(failed.map { "`\($0.name)` (\($0.problem ?? ""))" }.joined(separator: "; ")).\n"
        }
        text += "\n| filter | 1280×720 | 1920×1080 | steps |\n|---|---|---|---|\n"
        for line in lines where line.problem == nil {
            text += "| `\(line.name)` | \(line.milliseconds.map(rounded).joined(separator: " | ")) | \(line.passes) |\n"
        }
        return text
    }
}
