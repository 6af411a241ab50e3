/// Which filters of libavfilter a script may put into a graph.
///
/// A graph file is not trusted, and libavfilter has no switch that keeps filters from files, networks and devices. So only
/// filters that were looked through are let in: none of them has an option that names a file, a URL, a device, a plugin or
/// a model, none makes pictures without an input, none sleeps, and none keeps every picture until the end. A test holds
/// the list against the options of the installed libavfilter.
enum GuestRules: ChainRules {
    /// Names of the filters that may be used.
    static let allowed: Set<String> = Set(
        """
        addroi alphaextract alphamerge amplify atadenoise avgblur bbox bilateral bitplanenoise blackdetect blackframe blend
        blockdetect blurdetect bm3d boxblur bwdif cas chromahold chromakey chromanr chromashift ciescope codecview
        colorbalance colorchannelmixer colorcontrast colorcorrect colorhold colorize colorkey colorlevels colormap
        colormatrix colorspace colortemperature convolution convolve copy crop cropdetect datascope dblur dctdnoiz deband
        deblock decimate deconvolve dedot deflate deflicker dejudder delogo despill detelecine dilation displace doubleweave
        drawbox drawgrid edgedetect elbg entropy epx eq erosion estdif exposure extractplanes fade fftdnoiz fftfilt field
        fieldmatch fieldorder fillborders floodfill format fps framepack framerate framestep freezedetect freezeframes fspp
        gblur geq gradfun grayworld greyedge guided haldclut hflip histeq histogram hqdn3d hqx hstack hsvhold hsvkey hue
        huesaturation hysteresis identity idet il inflate interlace kerndeint kirsch lagfun latency lenscorrection limitdiff
        limiter lumakey lut lut2 lutrgb lutyuv maskedclamp maskedmax maskedmerge maskedmin maskedthreshold maskfun median
        mergeplanes mestimate midequalizer minterpolate mix monochrome morpho mpdecimate msad multiply negate nlmeans
        noformat noise normalize null oscilloscope overlay owdenoise pad perms perspective phase photosensitivity
        pixdesctest pixelize pixscope pp pp7 premultiply prewitt pseudocolor pullup qp readeia608 readvitc remap removegrain
        repeatfields rgbashift roberts rotate sab scale scale2ref scdet scharr scroll select separatefields setdar setfield
        setparams setpts setrange setsar settb shear showpalette shuffleframes shufflepixels shuffleplanes sidedata
        signalstats siti smartblur sobel split spp stereo3d streamselect super2xsai swaprect swapuv tblend telecine
        thistogram threshold thumbnail tile tinterlace tlut2 tmedian tmidequalizer tmix tonemap tpad transpose trim
        unpremultiply unsharp untile v360 vaguedenoiser varblur vectorscope vflip vfrdet vibrance vif vignette 
        vstack w3fdif waveform weave xbr xcorrelate xfade xmedian xstack yadif yaepblur zoompan zscale
        """.split { $0 == " " || $0 == "\n" }.map(String.init)
    )

    /// What to use instead of a filter that is refused.
    private static let instead = [
        "movie": "video{ file = … }", "amovie": "video{ file = … }", "color": "color{ rgba = … }",
        "testsrc": "testPattern{}", "testsrc2": "testPattern{}", "smptebars": "testPattern{}",
        "smptehdbars": "testPattern{}", "lut3d": "filter.lut3d{ file = … }", "lut1d": "filter.lut3d{ file = … }",
        "drawtext": "text{}", "subtitles": "text{}", "ass": "text{}", "frei0r": "frei0r{ \"name\" }",
        "curves": "filter.toneCurve", "loop": "video{ loop = true }", "reverse": "video{}",
    ]

    /// Why a filter may not be used; nil when it may.
    /// - Parameter hasInputs: it reads pictures.
    static func refusal(of name: String, hasInputs: Bool) -> (reason: String, remedy: String)? {
        if allowed.contains(name) { return nil }
        let reason =
            hasInputs
            ? "it may reach files, devices or the network, or is not on the list of filters for scripts"
            : "it makes pictures by itself, and sources belong into the graph"
        let remedy =
            instead[name].map { "use \($0)" }
            ?? (hasInputs ? "`patchbay filters --ffmpeg` lists what may be used" : "wire a source to the node instead")
        return (reason, remedy)
    }
}
