import PatchMedia

extension ColorTable {
    /// How a picture holds a table.
    public enum PictureLayout: String, Hashable, Sendable, CaseIterable {
        /// HaldCLUT: a square of side L³, entry after entry of a cube of L² in reading order.
        case hald
        /// GPUImage's lookup: 8 × 8 tiles of 64 × 64, in each red across and green down, blue from tile to tile.
        case tiles
    }

    /// Reads a picture of 8-bit R'G'B'.
    /// - Throws: `PatchError.media` when its size is none of the layout's.
    init(_ frame: Frame, layout: PictureLayout, name: String) throws {
        let format = frame.format.pixelFormat
        guard format == .rgba || format == .bgra else {
            throw PatchError(
                .media, "'\(name)' is stored as \(format.rawValue), which rounds a table's colours",
                remedy: "export the table as a PNG")
        }
        let (width, height) = (frame.width, frame.height)
        let size: Int
        switch layout {
        case .hald:
            guard width == height, let level = (2...16).first(where: { $0 * $0 * $0 == width }) else {
                throw PatchError(
                    .media, "'\(name)' is a picture of \(width)x\(height) pixels, which is no HaldCLUT",
                    remedy: "one of level 8 has 512x512, of level 12 1728x1728 pixels")
            }
            size = level * level
        case .tiles:
            guard width == height, width == 512 else {
                throw PatchError(
                    .media, "'\(name)' is a picture of \(width)x\(height) pixels, which is no lookup picture",
                    remedy: "it has 512x512: make it from GPUImage's lookup.png, by changes of colour alone")
            }
            size = 64
        }
        let isSwapped = format == .bgra
        func color(_ x: Int, _ y: Int) -> SIMD3<Float> {
            let pixel = frame.plane(0).row(y) + 4 * x
            let bytes = (0..<3).map { Float(pixel.load(fromByteOffset: $0, as: UInt8.self)) / 255 }
            return isSwapped ? SIMD3(bytes[2], bytes[1], bytes[0]) : SIMD3(bytes[0], bytes[1], bytes[2])
        }
        var entries: [SIMD3<Float>] = []
        entries.reserveCapacity(Self.count(.cube, size))
        for index in 0..<Self.count(.cube, size) {
            switch layout {
            case .hald: entries.append(color(index % width, index / width))
            case .tiles:
                let (red, green, blue) = (index % 64, index / 64 % 64, index / 4096)
                entries.append(color(blue % 8 * 64 + red, blue / 8 * 64 + green))
            }
        }
        self.init(.cube, size: size, entries: entries)
    }
}
