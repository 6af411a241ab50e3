import PatchMedia

extension Frame {
    /// Black where the format is opaque, transparent where it has alpha.
    public convenience init(blank format: VideoFormat) {
        self.init(allocating: format)
        guard format.pixelFormat.isYCbCr else { return }
        let pixelFormat = format.pixelFormat
        let shift = pixelFormat.bitDepth - 8
        let high = pixelFormat.lowBits
        let black = (format.color.range == .full ? 0 : 16) << (shift + high)
        let neutral = 128 << (shift + high)
        for index in 0..<pixelFormat.planeCount {
            let layout = pixelFormat.layout(ofPlane: index)
            let value = index == 0 ? black : neutral
            for y in 0..<layout.height(of: format.height) {
                let bytes = layout.width(of: format.width) * layout.bytesPerPixel
                let row = plane(index).row(y)
                if pixelFormat.bitDepth == 8 {
                    row.initializeMemory(as: UInt8.self, repeating: UInt8(value), count: bytes)
                } else {
                    row.initializeMemory(as: UInt16.self, repeating: UInt16(value).littleEndian, count: bytes / 2)
                }
            }
        }
    }
}
