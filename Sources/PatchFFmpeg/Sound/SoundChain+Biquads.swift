internal import CFFmpeg
import PatchMedia

extension SoundChain {
    /// libavfilter's filters of two poles.
    private static let biquads: Set<String> = [
        "equalizer", "bass", "treble", "lowshelf", "highshelf", "tiltshelf", "highpass", "lowpass", "bandpass",
        "bandreject",
        "allpass",
    ]

    /// Refuses filters of two poles that begin without a frequency or width they can work with.
    ///
    /// Such a filter (af_biquads.c) lets sound through and prepares nothing. A command that then gives it a frequency makes it go on
    /// from memory that nobody has written, NaN for example, and one that gives it a gain makes it call a null pointer.
    /// `equalizer` begins so unless its text names a frequency.
    func checkBiquads(_ graph: UnsafeMutablePointer<AVFilterGraph>) throws {
        for index in 0..<Int(graph.pointee.nb_filters) {
            guard let context = graph.pointee.filters[index], let name = context.pointee.filter?.pointee.name,
                Self.biquads.contains(String(cString: name))
            else { continue }
            var (frequency, width) = (0.0, 0.0)
            guard av_opt_get_double(context.pointee.priv, "frequency", 0, &frequency) >= 0,
                av_opt_get_double(context.pointee.priv, "width", 0, &width) >= 0
            else { continue }
            guard frequency > 0, frequency < Double(format.sampleRate) / 2, width > 0 else {
                throw PatchError(
                    .script,
                    "'\(String(cString: name))' in the ffmpeg chain \"\(text.prefix(200))\" has the frequency \(frequency) Hz and the "
                        + "width \(width)",
                    remedy:
                        "give it a frequency (f=) above 0 and below \(format.sampleRate / 2) Hz, and a width (w=) above 0"
                )
            }
        }
    }
}
