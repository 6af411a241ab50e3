/// Which sound filters of libavfilter a script may put into a graph: as `GuestRules` for pictures. None of them names a file,
/// a plugin or a model, makes sound without an input, sleeps, or changes how long sound is.
enum SoundRules: ChainRules {
    /// Names of the filters that may be used.
    static let allowed: Set<String> = Set(
        """
        acompressor acontrast acopy acrossover acrusher adeclick adeclip adecorrelate adelay adenorm aderivative
        adynamicequalizer adynamicsmooth aecho aemphasis aeval aexciter afade afftdn afftfilt aformat afreqshift afwtdn agate
        aiir aintegral alatency alimiter allpass amerge amix amultiply anequalizer anlmdn anull aphaser aphaseshift apsyclip
        apulsator aresample asetnsamples asoftclip asplit asubboost asubcut asupercut asuperpass asuperstop atilt bandpass
        bandreject bass biquad bs2b channelmap channelsplit chorus compand compensationdelay crossfeed crystalizer dcshift
        deesser dialoguenhance dynaudnorm earwax equalizer extrastereo flanger haas highpass highshelf join loudnorm lowpass
        lowshelf mcompand pan sidechaincompress sidechaingate speechnorm stereotools stereowiden superequalizer surround
        tiltshelf treble tremolo vibrato virtualbass volume
        """.split { $0 == " " || $0 == "\n" }.map(String.init)
    )

    /// What to use instead of a filter that is refused.
    private static let instead = [
        "amovie": "video{ file = … }", "arnndn": "audio.noiseSuppression{}", "ebur128": "audio.meter{}",
        "anullsrc": "nothing: an input without a wire is silent", "firequalizer": "audio.equalizer{}",
        "atempo": "video{ rate = … }", "asetrate": "video{ rate = … }",
    ]

    /// Why a filter may not be used; nil when it may.
    /// - Parameter hasInputs: it reads sound.
    static func refusal(of name: String, hasInputs: Bool) -> (reason: String, remedy: String)? {
        if allowed.contains(name) { return nil }
        let reason =
            hasInputs
            ? "it may reach files or the network, changes how long sound is, or is not on the list of filters for scripts"
            : "it makes sound by itself, and sources belong into the graph"
        let remedy =
            instead[name].map { "use \($0)" } ?? "`patchbay filters --ffmpeg` lists what may be used"
        return (reason, remedy)
    }
}
