import Patchbay

extension StatusText {
    /// Running numbers for programs: `--json` and `--stats json`. Durations end in their unit.
    static func json(_ statistics: EngineStatistics) -> JSON {
        .object([
            ("ticks", .integer(Int(statistics.ticks))), ("late", .integer(Int(statistics.late))),
            ("generation", .integer(statistics.generation)), ("p50us", .number(statistics.p50)),
            ("p99us", .number(statistics.p99)), ("nodes", .array(statistics.nodes.map { json($0) })),
        ])
    }

    private static func json(_ node: NodeStatistics) -> JSON {
        var members: [(String, JSON)] = [
            ("node", .string(node.id)), ("kind", .string(node.kind)), ("frames", .integer(Int(node.frames))),
            ("drops", .integer(Int(node.drops))), ("late", .integer(Int(node.late))),
            ("queueDepth", .integer(node.queueDepth)),
            ("p50us", .number(node.p50)), ("p99us", .number(node.p99)),
            ("state", .text(node.state.isEmpty ? nil : node.state)),
        ]
        if let source = node.source { members.append(("source", json(source))) }
        if let loudness = node.loudness { members.append(("loudness", json(loudness))) }
        if let output = node.output { members.append(("output", json(output))) }
        return .object(members)
    }

    private static func json(_ source: SourceStatistics) -> JSON {
        func number(_ value: Double?) -> JSON { value.map { .number($0) } ?? .null }
        return .object([
            ("latencyMs", number(source.latency)), ("avOffsetMs", number(source.avOffset)),
            ("driftPpm", number(source.drift)), ("reconnects", .integer(Int(source.reconnects))),
            ("corrupt", .integer(Int(source.corrupt))), ("standIn", .text(source.standIn?.rawValue)),
        ])
    }

    /// LUFS and dBTP; null where nothing was heard.
    private static func json(_ loudness: Loudness) -> JSON {
        .object([
            ("momentary", .number(loudness.momentary)), ("shortTerm", .number(loudness.shortTerm)),
            ("integrated", .number(loudness.integrated)), ("truePeak", .number(loudness.truePeak)),
        ])
    }

    private static func json(_ output: OutputStatistics) -> JSON {
        .object([
            ("bytesSent", .integer(Int(output.bytesSent))), ("bitrate", .number(output.bitrate.rounded())),
            ("targetBitrate", .integer(output.targetBitrate)), ("reconnects", .integer(Int(output.reconnects))),
            ("droppedGroups", .integer(Int(output.droppedGroups))),
            ("droppedPackets", .integer(Int(output.droppedPackets))), ("waitingBytes", .integer(output.waitingBytes)),
            ("waitingSeconds", .number(output.waitingSeconds)), ("repeats", .integer(Int(output.repeats))),
            ("encoderShares", .integer(output.encoderShares)), ("encodeP50ms", .number(output.encodeP50)),
            ("encodeP99ms", .number(output.encodeP99)), ("sendP50ms", .number(output.sendP50)),
            ("sendP99ms", .number(output.sendP99)),
        ])
    }

    /// The same in Prometheus' text format 0.0.4, in base units: seconds, bytes, bits a second.
    static func prometheus(_ statistics: EngineStatistics) -> String {
        var text = PrometheusText()
        text.add("ticks_total", "counter", "Ticks since the start.", [([], Double(statistics.ticks))])
        text.add("late_ticks_total", "counter", "Ticks that ended late.", [([], Double(statistics.late))])
        text.add("generation", "gauge", "Edits on air so far.", [([], Double(statistics.generation))])
        text.add(
            "tick_seconds", "gauge", "Work of a tick, of the last 512.",
            [([("quantile", "0.5")], statistics.p50 / 1e6), ([("quantile", "0.99")], statistics.p99 / 1e6)])
        typealias Value = (NodeStatistics) -> Double
        func nodes(_ name: String, _ type: String, _ help: String, _ value: Value) {
            text.add(
                name, type, help, statistics.nodes.map { ([("node", $0.id), ("kind", $0.kind)], value($0)) })
        }
        nodes("node_frames_total", "counter", "Frames made, passed or taken.") { Double($0.frames) }
        nodes("node_drops_total", "counter", "Frames dropped.") { Double($0.drops) }
        nodes("node_late_ticks_total", "counter", "Ticks for which the node was late.") { Double($0.late) }
        nodes("node_queue_frames", "gauge", "Frames that wait.") { Double($0.queueDepth) }
        text.add(
            "node_seconds", "gauge", "Work of a frame, of the last 512.",
            statistics.nodes.flatMap { node in
                [("0.5", node.p50), ("0.99", node.p99)].map {
                    ([("node", node.id), ("kind", node.kind), ("quantile", $0)], $1 / 1e6)
                }
            })
        text.add(
            "node_state", "gauge", "1 for the state that the node is in.",
            statistics.nodes.filter { !$0.state.isEmpty }.map { ([("node", $0.id), ("state", $0.state)], 1) })
        let heard = statistics.nodes.compactMap { node in node.loudness.map { (node, $0) } }
        text.add(
            "node_loudness_lufs", "gauge", "Loudness by EBU R 128, over 0.4 s, 3 s, and since the start.",
            heard.flatMap { node, loudness in
                [
                    ("momentary", loudness.momentary), ("shortTerm", loudness.shortTerm),
                    ("integrated", loudness.integrated),
                ].map { ([("node", node.id), ("kind", node.kind), ("over", $0)], $1) }
            })
        text.add(
            "node_true_peak_dbtp", "gauge", "Highest true peak since the start.",
            heard.map { ([("node", $0.id), ("kind", $0.kind)], $1.truePeak) })

        let sources = statistics.nodes.compactMap { node in node.source.map { (node.id, $0) } }
        func source(_ name: String, _ type: String, _ help: String, _ value: (SourceStatistics) -> Double?) {
            let values = sources.compactMap { node, source in value(source).map { ([("node", node)], $0) } }
            text.add("source_" + name, type, help, values)
        }
        source("latency_seconds", "gauge", "From a picture's arrival to the slowest output that shows it.") {
            $0.latency.map { $0 / 1000 }
        }
        source("av_offset_seconds", "gauge", "By which sound lies behind picture.") { $0.avOffset.map { $0 / 1000 } }
        source("drift_ratio", "gauge", "By which the source's clock runs faster than ours.") {
            $0.drift.map { $0 / 1e6 }
        }
        source("reconnects_total", "counter", "Connections after the first.") { Double($0.reconnects) }
        source("corrupt_packets_total", "counter", "Packets that could not be decoded.") { Double($0.corrupt) }
        source("stand_in", "gauge", "1 while something stands in for the source.") { $0.standIn == nil ? 0 : 1 }

        let outputs = statistics.nodes.compactMap { node in node.output.map { (node.id, $0) } }
        func output(_ name: String, _ type: String, _ help: String, _ value: (OutputStatistics) -> Double) {
            text.add("output_" + name, type, help, outputs.map { ([("node", $0.0)], value($0.1)) })
        }
        output("sent_bytes_total", "counter", "Bytes accepted.") { Double($0.bytesSent) }
        output("bits_per_second", "gauge", "Accepted over the last seconds.") { $0.bitrate }
        output("target_bits_per_second", "gauge", "What the picture's encoder aims at.") { Double($0.targetBitrate) }
        output("reconnects_total", "counter", "Connections after the first.") { Double($0.reconnects) }
        output("dropped_groups_total", "counter", "Groups of pictures dropped.") { Double($0.droppedGroups) }
        output("dropped_packets_total", "counter", "Packets dropped.") { Double($0.droppedPackets) }
        output("waiting_bytes", "gauge", "Bytes that wait to be accepted.") { Double($0.waitingBytes) }
        output("waiting_seconds", "gauge", "Stream that waits to be accepted.") { $0.waitingSeconds }
        output("repeated_frames_total", "counter", "Frames repeated for dropped ticks.") { Double($0.repeats) }
        output("encoder_shares", "gauge", "Outputs that use the same encoder.") { Double($0.encoderShares) }
        for (name, help, values) in [
            (
                "encode_seconds", "From the tick to the encoded packet, of the last 512.",
                outputs.map { ($0.0, $0.1.encodeP50, $0.1.encodeP99) }
            ),
            (
                "send_seconds", "From the encoded packet to its acceptance, of the last 512.",
                outputs.map { ($0.0, $0.1.sendP50, $0.1.sendP99) }
            ),
        ] {
            text.add(
                "output_" + name, "gauge", help,
                values.flatMap { node, p50, p99 in
                    [
                        ([("node", node), ("quantile", "0.5")], p50 / 1000),
                        ([("node", node), ("quantile", "0.99")], p99 / 1000),
                    ]
                })
        }
        return text.text
    }
}

/// Collects metrics in Prometheus' text format.
private struct PrometheusText {
    private(set) var text = ""

    /// One metric with its values by labels; nothing when there is no finite value.
    mutating func add(_ name: String, _ type: String, _ help: String, _ values: [([(String, String)], Double)]) {
        let values = values.filter { $0.1.isFinite }
        guard !values.isEmpty else { return }
        text += "# HELP patchbay_\(name) \(help)\n# TYPE patchbay_\(name) \(type)\n"
        for (labels, value) in values {
            let list = labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
            let whole = value == value.rounded() && abs(value) < 1e15
            text += "patchbay_\(name)\(list.isEmpty ? "" : "{\(list)}") \(whole ? "\(Int64(value))" : "\(value)")\n"
        }
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.append(character)
            }
        }
        return result
    }
}
