internal import CFFmpeg
import PatchGraph
import PatchMedia

/// A still image: decoded once, shown at every tick. Alpha is premultiplied, EXIF orientation is applied as the frame's
/// orientation; of an animation only the first picture is shown.
///
/// Thread-safety: as `MediaSource`.
final class ImageSource: MediaSource, @unchecked Sendable {
    // Unchecked: `image` is written by `open` before any tick.
    private let path: String
    private let size: (width: Int, height: Int)?
    private let orientation: Orientation
    private let environment: NodeEnvironment
    private let deadline = InterruptDeadline()
    private var image: Frame?

    init(
        _ path: String, size: (width: Int, height: Int)?, orientation: Orientation, environment: NodeEnvironment
    ) {
        self.path = path
        self.size = size
        self.orientation = orientation
        self.environment = environment
    }

    func open() throws -> SourceFormat {
        let frame = try decode()
        image = frame
        return SourceFormat(video: frame.format)
    }

    func start() throws {}
    func frame(at tick: Tick) -> SourceReading { image.map { .frame($0) } ?? .waiting }
    func stop() {}
    var counters: SourceCounters {
        var counters = SourceCounters()
        counters.received = image == nil ? 0 : 1
        return counters
    }

    private func decode() throws -> Frame {
        var address = try InputAddress.file(path)
        if let size {
            address.decoderOptions = [
                ("width", "\(size.width)"), ("height", "\(size.height)"), ("keep_ar", "0"),
            ]
        }
        let reader = try MediaReader(address, deadline: deadline)
        guard let decoder = reader.video else {
            throw PatchError(.media, "'\(path)' has no picture", remedy: "use video{ file = … } for sound files")
        }
        FFmpegLog.forget()
        guard try decodeOne(decoder, reader: reader) else {
            throw PatchError(
                .media, "image '\(path)' cannot be decoded", remedy: "export it again as PNG or JPEG",
                cause: FFmpegLog.lastLine)
        }
        let picture = decoder.frame
        if picture.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0 || picture.pointee.decode_error_flags != 0
            || FFmpegLog.lastLine != nil
        {
            environment.report(
                .problem(
                    PatchError(
                        .media, "image '\(path)' is damaged or cut off", remedy: "export it again",
                        cause: FFmpegLog.lastLine)))
        }
        let importer = FrameImporter(shown: path, report: environment.report)
        let upright = statedOrientation(of: picture) ?? reader.orientation
        guard
            let frame = importer.frame(
                from: picture, orientation: upright.then(orientation), isPremultiplied: decoder.isPremultiplied)
        else {
            throw importer.problem ?? outOfMemory("image '\(path)'")
        }
        if try decodeOne(decoder, reader: reader) {
            environment.report(
                .notice("'\(path)' is animated: only its first picture is shown; use video{ file = … } to play it"))
        }
        return frame
    }

    /// Decodes up to the next picture, which is then `decoder.frame`. False when there is none.
    private func decodeOne(_ decoder: TrackDecoder, reader: MediaReader) throws -> Bool {
        var isDraining = false
        while true {
            switch decoder.receive() {
            case .frame: return true
            case .drained, .corrupt: return false
            case .needsPacket: break
            }
            guard !isDraining else { return false }
            switch reader.read() {
            case .packet(let packet):
                let isOurs = packet.pointee.stream_index == decoder.index
                if isOurs, !decoder.send(packet) {
                    TrackBacklog.free(packet)
                    return false
                }
                TrackBacklog.free(packet)
            case .nothing, .corrupt: break
            case .ended:
                decoder.drain()
                isDraining = true
            case .failed(let error): throw error
            }
        }
    }

    /// From the picture's display matrix, or its EXIF tag where the decoder only hands that on.
    private func statedOrientation(of picture: UnsafeMutablePointer<AVFrame>) -> Orientation? {
        if let matrix = patch_frame_display_matrix(picture) { return Orientation(displayMatrix: matrix) }
        guard let entry = av_dict_get(picture.pointee.metadata, "Orientation", nil, 0) else { return nil }
        let digits = String(cString: entry.pointee.value).filter(\.isNumber)
        // EXIF 2.3, tag 0x0112: where row 0 and column 0 of the stored picture are.
        return switch Int(digits) {
        case 1: .identity
        case 2: Orientation(mirrored: true)
        case 3: Orientation(quarterTurns: 2)
        case 4: Orientation(quarterTurns: 2, mirrored: true)
        case 5: Orientation(quarterTurns: 1, mirrored: true)
        case 6: Orientation(quarterTurns: 1)
        case 7: Orientation(quarterTurns: 3, mirrored: true)
        case 8: Orientation(quarterTurns: 3)
        default: nil
        }
    }
}
