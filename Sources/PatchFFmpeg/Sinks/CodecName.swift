internal import CFFmpeg

extension StreamParameters {
    /// The codec with profile and level as playlists write it (RFC 6381), such as "avc1.64001F"; nil for one that cannot be told.
    ///
    /// Sources: ISO/IEC 14496-15, 3.3 and annex E.3, for H.264 and H.265; AV1 Codec ISO Media File Format Binding, section 5.
    var codecName: String? {
        let header = UnsafeBufferPointer(start: pointer.pointee.extradata, count: Int(pointer.pointee.extradata_size))
        return switch pointer.pointee.codec_id {
        case AV_CODEC_ID_H264: CodecName.h264(header)
        case AV_CODEC_ID_HEVC: CodecName.h265(header)
        case AV_CODEC_ID_AV1: CodecName.av1(header)
        case AV_CODEC_ID_AAC: "mp4a.40.2"
        case AV_CODEC_ID_OPUS: "opus"
        default: nil
        }
    }
}

/// Reads profiles and levels from encoders' headers: parameter sets after start codes, or AV1's units.
enum CodecName {
    typealias Header = UnsafeBufferPointer<UInt8>

    /// Profile, constraints and level stand at the beginning of the sequence parameter set.
    static func h264(_ header: Header) -> String? {
        guard let set = unit(header, where: { $0 & 31 == 7 }), set.count >= 4 else { return nil }
        return "avc1." + set[1...3].map { hex(UInt32($0), digits: 2) }.joined()
    }

    static func h265(_ header: Header) -> String? {
        guard let set = unit(header, where: { $0 >> 1 & 63 == 33 }), set.count >= 15 else { return nil }
        // After the unit's two bytes and one of identifiers: profile_tier_level of 12 bytes.
        let general = Array(set[3..<15])
        let space = ["", "A", "B", "C"][Int(general[0] >> 6)]
        var flags: UInt32 = 0
        // The flag of profile 0 comes first, and counts as the lowest bit.
        for (index, byte) in general[1...4].enumerated() {
            for bit in 0..<8 where byte & (0x80 >> UInt8(bit)) != 0 { flags |= 1 << UInt32(8 * index + bit) }
        }
        let tier = general[0] & 0x20 == 0 ? "L" : "H"
        var constraints = general[5...10]
        while constraints.last == 0 { constraints.removeLast() }
        let profile = "\(space)\(general[0] & 31)"
        let rest = constraints.map { "." + hex(UInt32($0)) }.joined()
        return "hvc1.\(profile).\(hex(flags)).\(tier)\(general[11])\(rest)"
    }

    /// What is encoded here has 8 bits.
    static func av1(_ header: Header) -> String? {
        // A unit's header has its type in bits 3 to 6, and whether its size follows in bit 1; the sequence header's is small.
        guard header.count >= 5, header[0] >> 3 & 15 == 1, header[0] & 2 != 0, header[1] < 128 else { return nil }
        var bits = BitReader(header[2...])
        let profile = bits.read(3)
        _ = bits.read(1)
        if bits.read(1) == 1 { return "av01.\(profile).\(twoDigits(bits.read(5)))M.08" }
        // Timing would move what follows; these encoders leave it out.
        guard bits.read(1) == 0 else { return nil }
        _ = bits.read(1 + 5 + 12)
        let level = bits.read(5)
        let tier = level > 7 && bits.read(1) == 1 ? "H" : "M"
        return "av01.\(profile).\(twoDigits(level))\(tier).08"
    }

    /// The first unit of a kind, without the bytes that keep start codes out of it.
    private static func unit(_ header: Header, where matches: (UInt8) -> Bool) -> [UInt8]? {
        var index = 0
        while index + 3 < header.count {
            guard header[index] == 0, header[index + 1] == 0, header[index + 2] == 1 else {
                index += 1
                continue
            }
            index += 3
            guard matches(header[index]) else { continue }
            var bytes: [UInt8] = []
            for byte in header[index...].prefix(64) {
                if byte == 3, bytes.suffix(2) == [0, 0] { continue }
                bytes.append(byte)
            }
            return bytes
        }
        return nil
    }

    private static func hex(_ value: UInt32, digits: Int = 1) -> String {
        let text = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    private static func twoDigits(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }

    /// Reads from the highest bit down; zeros after the end.
    private struct BitReader {
        private let bytes: Slice<Header>
        private var place = 0
        init(_ bytes: Slice<Header>) { self.bytes = bytes }

        mutating func read(_ count: Int) -> Int {
            var value = 0
            for _ in 0..<count {
                let index = bytes.startIndex + place / 8
                let bit = index < bytes.endIndex ? Int(bytes[index]) >> (7 - place % 8) & 1 : 0
                value = value << 1 | bit
                place += 1
            }
            return value
        }
    }
}
