/// How each filter's picture in docs/filters is made: values that show what it does, and what is wired to it.
enum FilterPictureExamples {
    /// Values that show a filter better than the rule of `FilterPicturesTests.arguments`.
    static let values: [String: String] = [
        // Colour.
        "brightness": "brightness = 0.2", "contrast": "contrast = 1.7", "exposure": "exposure = 0.5",
        "gamma": "gamma = 1.8", "hue": "hue = 120", "levels": "blackIn = 0.2, whiteIn = 0.8, middle = 1.2",
        "rgb": "red = 1.4, blue = 0.7", "saturation": "saturation = 1.9", "opacity": "opacity = 0.4",
        "colorMatrix": "red = {0, 1, 0, 0}, green = {0, 0, 1, 0}, blue = {1, 0, 0, 0}", "posterize": "levels = 4",
        "colorBalance": "shadows = {-0.3, 0, 0.4}, highlights = {0.4, 0.1, -0.3}",
        "curvesRGB": "red = {0.15, 0.5, 0.9}, blue = {0.4, 0.55, 0.65}",
        "toneCurve": "dark = {0.25, 0.1}, light = {0.75, 0.92}",
        "liftGammaGain": "lift = {0, 0.03, 0.08}, gain = {1.15, 1.02, 0.9}", "whiteBalance": "temperature = 8000",
        "highlightShadow": "shadows = 0.8, highlights = 0.6", "vibrance": "vibrance = 1.1", "haze": "distance = 0.25",
        "solidColor": "color = \"#2f6fb2\"", "hsb": "hue = 60, saturation = 1.3", "temperature": "kelvin = 9500",
        "skinTone": "amount = 0.25", "perlinNoise": "",
        // Blur and edges.
        "iOSBlur": "sigma = 12", "skinSmooth": "smooth = 1, detail = 0", "beautify": "smooth = 0.2",
        "convolution3x3": "top = {-2, -1, 0}, middle = {-1, 1, 1}, bottom = {0, 1, 2}",
        "gaussianBlurPosition": "center = {0.19, 0.4}, radius = 0.15",
        "gaussianSelectiveBlur": "center = {0.19, 0.4}, radius = 0.15",
        "houghLines": "threshold = 0.17", "crosshairs": "arm = 4", "crosshatch": "spacing = 0.018, width = 0.0045",
        // Geometry.
        "resize": "size = \"144x81\"", "rotate": "angle = 18", "zoom": "factor = 2, center = {0.3, 0.45}",
        "fill": "size = \"240x240\"", "fit": "size = \"240x240\"", "bulge": "center = {0.19, 0.45}, scale = 0.7",
        "pinch": "center = {0.19, 0.45}, radius = 0.5", "lensCorrection": "k1 = -0.25",
        "cornerPin": "topLeft = {0.15, 0.1}, topRight = {0.9, 0}, bottomRight = {1, 0.9}, bottomLeft = {0, 1}",
        "pad": "left = 0.12, right = 0.12, top = 0.12, bottom = 0.12, color = \"#2f6fb2\"",
        "swirl": "center = {0.19, 0.45}, radius = 0.3, angle = 0.4", "displacement": "amount = {0.05, 0.05}",
        "overlay": "x = 330, y = 180, width = 220", "roundCorners": "radius = 0.2",
        "glassSphere": "center = {0.3, 0.5}", "sphereRefraction": "center = {0.3, 0.5}",
        // Effects and time.
        "bloom": "threshold = 0.5, intensity = 1", "dropShadow": "offset = {0.05, 0.05}, blur = 0.03",
        "outline": "width = 0.015", "motionDetector": "show = 1, threshold = 0.1", "highPass": "strength = 0.8",
        // Keys, over a landscape.
        "chromaKey": "color = \"#1fa34a\", threshold = 0.14, smoothing = 0.1, spill = 1",
        "colorKey": "color = \"#1fa34a\", tolerance = 0.3, softness = 0.15",
        "lumaKey": "threshold = 0.22, softness = 0.1", "differenceKey": "threshold = 0.15",
        "garbageMatte":
            "topLeft = {0.3, 0.1}, topRight = {0.7, 0.1}, bottomRight = {0.8, 1}, bottomLeft = {0.2, 1}, softness = 0.03",
        "blend.chromaKeyBlend": "color = \"#1fa34a\", threshold = 0.14",
        // Blends that hide what is below show half of it.
        "blend.alpha": "mix = 0.5", "blend.normal": "opacity = 0.5", "blend.sourceOver": "opacity = 0.5",
        "blend.dissolve": "mix = 0.5",
        // Transitions.
        "transition.fadeToColor": "progress = 0.3", "transition.cut": "progress = 0.5",
    ]

    /// What is wired to a port of this name; the card to any other. A mask stays away.
    static let ports = [
        "overlay": "other", "background": "landscape", "to": "other", "foreground": "cloth", "plate": "empty",
        "map": "clouds", "mask": "spot", "marks": "marks",
    ]

    /// What is wired to the first port of these filters.
    static let images = [
        "dropShadow": "person", "outline": "person", "blend.chromaKeyBlend": "cloth", "blend.poisson": "landscape",
        "lumaKey": "other", "echo": "moving", "lowPass": "moving", "highPass": "moving", "motionDetector": "moving",
        "frameDelay": "moving", "freeze": "moving", "temporalDenoise": "noisy", "median": "noisy", "bilateral": "noisy",
        "guided": "noisy", "surfaceBlur": "noisy", "kuwahara": "noisy", "kuwaharaRadius3": "noisy",
        "nonMaximumSuppression": "slopes", "weakPixelInclusion": "thin",
    ]

    /// Filters whose result is seen over a landscape.
    static let seeThrough: Set<String> = ["dropShadow", "outline"]

    /// Filters that find corners: their picture is that of crosshairs at what they found.
    static let corners = ["harris": 0.1, "noble": 0.4, "shiTomasi": 0.3, "fast": 0.15]

    /// The nodes that stand for the words above. Those that no picture needs are not computed.
    static let sources = """
        graph { size = "576x324", fps = 30 }
        local card = testPattern { "card", kind = "card", size = "576x324" }
        local landscape = testPattern { "landscape", kind = "landscape", size = "576x324" }
        local other = testPattern { "other", kind = "guest", size = "576x324" }
        local cloth = testPattern { "cloth", kind = "greenscreen", size = "576x324" }
        local empty = color { "empty", rgba = "#1d9c45" }
        local clouds, spot = filter.perlinNoise { "clouds", scale = 4 }, filter.vignette { "spot", start = 0.2, finish = 0.6 }
        card >> clouds
        color { "white", rgba = "#ffffff" } >> spot
        local person = filter.chromaKey { "person", color = "#1fa34a", threshold = 0.14, smoothing = 0.1, spill = 1 }
        cloth >> person
        local moving = filter.rotate { "moving", angle = lfo { wave = "saw", frequency = 1, min = -30, max = 30 } }
        card >> moving
        local noisy = filter.filmGrain { "noisy", amount = 0.12, grain = 1 }
        card >> noisy
        local soft, slopes, thin = filter.singleComponentGaussianBlur { "soft" }, filter.directionalSobel { "slopes" },
          filter.nonMaximumSuppression { "thin" }
        card >> soft >> slopes >> thin
        local marks = filter.harris { "marks", threshold = 0.1 }
        card >> marks

        """
}
