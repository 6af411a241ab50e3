import PatchMedia

/// Copies of the ends of rows, and what lies beside them.
extension PassDriver {
    /// Bytes that are moved at a time.
    static let vectorBytes = 16

    /// Copies the end of a plane's row; what lies beside it is filled by the edge mode.
    ///
    /// Reads no byte beside the row; may write less than a vector after the copy.
    func copyRow(
        _ number: Int, of source: UnsafeMutablePointer<Source>, _ bytes: Int, _ edge: EdgeMode,
        to copy: UnsafeMutableRawPointer
    ) {
        let row = source.pointee.base + number &* source.pointee.stride
        let (before, within, after) = (source.pointee.before, source.pointee.within, source.pointee.after)
        let end = copy + (before &+ within)
        let repeats = edge == .clamp || edge == .transparent
        // Before the row's own bytes, because it writes whole vectors.
        if before > 0, repeats { fill(copy, before, with: row, bytes) }
        copyBytes(from: row + max(0, source.pointee.begin) &* bytes, to: copy + before, count: within)
        if after > 0, repeats { fill(end, after, with: row + (source.pointee.width &- 1) &* bytes, bytes) }
        if repeats { return }
        copyOutside(0..<before / bytes, row, source, bytes, edge, copy)
        copyOutside((before + within) / bytes..<(before + within + after) / bytes, row, source, bytes, edge, copy)
    }

    /// Copies so many bytes and touches no others: whole vectors, of which the last one may overlap the one before.
    @inline(__always)
    func copyBytes(from source: UnsafeMutableRawPointer, to target: UnsafeMutableRawPointer, count: Int) {
        if count >= Self.vectorBytes {
            let last = count &- Self.vectorBytes
            var at = 0
            while at < last {
                copy(SIMD2<UInt64>.self, source, target, at)
                at &+= Self.vectorBytes
            }
            copy(SIMD2<UInt64>.self, source, target, last)
        } else if count >= 8 {
            copy(UInt64.self, source, target, 0)
            copy(UInt64.self, source, target, count &- 8)
        } else if count >= 4 {
            copy(UInt32.self, source, target, 0)
            copy(UInt32.self, source, target, count &- 4)
        } else {
            var at = 0
            while at < count {
                copy(UInt8.self, source, target, at)
                at &+= 1
            }
        }
    }

    @inline(__always)
    private func copy<Value: BitwiseCopyable>(
        _ type: Value.Type, _ source: UnsafeMutableRawPointer, _ target: UnsafeMutableRawPointer, _ at: Int
    ) {
        target.storeBytes(of: source.loadUnaligned(fromByteOffset: at, as: type), toByteOffset: at, as: type)
    }

    /// Repeats a sample, over whole vectors.
    @inline(__always)
    private func fill(
        _ place: UnsafeMutableRawPointer, _ count: Int, with sample: UnsafeMutableRawPointer, _ bytes: Int
    ) {
        let word: UInt64 =
            switch bytes {
            case 1: UInt64(sample.load(as: UInt8.self)) &* 0x0101_0101_0101_0101
            case 2: UInt64(sample.loadUnaligned(as: UInt16.self)) &* 0x0001_0001_0001_0001
            case 4: UInt64(sample.loadUnaligned(as: UInt32.self)) &* 0x0000_0001_0000_0001
            default: sample.loadUnaligned(as: UInt64.self)
            }
        let vector = SIMD2(repeating: word)
        var at = 0
        repeat {
            place.storeBytes(of: vector, toByteOffset: at, as: SIMD2<UInt64>.self)
            at &+= Self.vectorBytes
        } while at < count
    }

    private func copyOutside(
        _ places: Range<Int>, _ row: UnsafeMutableRawPointer, _ source: UnsafeMutablePointer<Source>, _ bytes: Int,
        _ edge: EdgeMode, _ copy: UnsafeMutableRawPointer
    ) {
        for place in places {
            let sample = row + edge.mapped(source.pointee.begin + place, source.pointee.width) * bytes
            copyBytes(from: sample, to: copy + place * bytes, count: bytes)
        }
    }
}
