import PatchMedia

/// One way in which Patchbay does a workload: a graph, as its users write one.
///
/// The graph reads pictures by name from `picture{"NAME"}` and hands its results to `result{"out"}`; both are kinds of the
/// bench's own. Everything between is the product: filter library, mixer, planner, engine.
struct OurWay {
    var name: String
    /// Lua, without the size.
    var graph: String
    /// How the bytes of the pictures are to be understood; those of the bench unless said otherwise.
    var isFullRange = false
    /// A picture of this format stands between two graphs' worth of work, as `result{"middle"}`.
    var middle: PixelFormat?
    /// The graph's `light`; nil is the default.
    var light: String?
}

extension OurWay {
    /// All ways of a workload; the fastest counts.
    static func all(of workload: Workload, width: Int, height: Int) -> [OurWay] {
        let (half, most) = ("{ \(width / 2), \(height / 2) }", "\(width), \(height)")
        func one(_ graph: String, full: Bool = false) -> [OurWay] {
            [OurWay(name: "graph", graph: graph, isFullRange: full)]
        }
        switch workload.name {
        case "W1": return one("picture{'a'} >> \(look) >> result{'out'}")
        case "W1y": return one(lookYCbCr, full: true)
        case "W2": return one(blur(workload.format, 4))
        case "W2-20": return one(blur(workload.format, 20))
        case "W3-luma", "W3-rgb": return one("picture{'a'} >> filter.bilateral{ distance = 4 } >> result{'out'}")
        case "W3-guided": return one("picture{'a'} >> filter.guided{ sigma = 4, epsilon = 0.01 } >> result{'out'}")
        case "W4":
            return one(
                """
                local mix = mixer{ "mix", size = "\(width)x\(height)" }
                mix.slots.back = { source = picture{"a"}, position = { 0, 0 }, size = { \(most) }, z = 0 }
                mix.slots.logo = { source = picture{"overlay"}, position = { \(Overlay.x(width)), \(Overlay.y(height)) },
                  size = { \(Overlay.width(width)), \(Overlay.height(height)) }, z = 1 }
                mix >> result{"out"}
                """)
        case "W5": return one("picture{'a'} >> filter.lut3d{ file = 'bench.cube' } >> result{'out'}")
        case "W6-sobel": return one(sobel)
        case "W6-3x3":
            return one(
                "picture{'a'} >> kernel{ sample = function(src) local sum = vec3(0)\n"
                    + "for i, w in ipairs{ \(Reference.sharpen.map { "\($0)" }.joined(separator: ", ")) } do\n"
                    + "sum = sum + src:at((i - 1) % 3 - 1, (i - 1) // 3 - 1).rgb * w end\n"
                    + "return vec4(sum, src:at(0, 0).a) end } >> result{'out'}")
        case "W7":
            let places = [
                ("a", "0, 0"), ("b", "\(width / 2), 0"), ("c", "0, \(height / 2)"),
                ("d", "\(width / 2), \(height / 2)"),
            ]
            let slots = places.map {
                "mix.slots.\($0.0) = { source = picture{\"\($0.0)\"}, position = { \($0.1) }, size = \(half), aspect = 'stretch' }"
            }
            return one(
                "local mix = mixer{ 'mix', size = '\(width)x\(height)' }\n" + slots.joined(separator: "\n")
                    + "\nmix >> result{'out'}")
        case "W8":
            return one(
                "{ picture{'key'}, picture{'b'} } >> filter.chromaKey{ color = '#00ff00', "
                    + "threshold = \(ChromaKey.threshold), smoothing = \(ChromaKey.smoothing) } >> result{'out'}")
        case "W9":
            return one(
                "{ picture{'a'}, picture{'b'} } >> transition.fade{ progress = \(Reference.fade) } >> result{'out'}")
        case "W10-both":
            return [
                OurWay(
                    name: "through RGBA", graph: "picture{'a'} >> result{'middle'} >> result{'out'}", middle: .rgba)
            ]
        default: return one("picture{'a'} >> result{'out'}")
        }
    }

    private typealias Look = Reference.Look

    /// W1's five filters. Ours keep what leaves 0…1, where 8-bit libraries cut it: a kernel does that before the vignette.
    static let look = """
        filter.contrast{ contrast = \(Look.contrast) } >> filter.brightness{ brightness = \(Look.brightness) } >> \
        filter.saturation{ saturation = \(Look.saturation) } >> \
        kernel{ pixel = function(c) return vec4(clamp(c.rgb, 0, 1), c.a) end } >> \
        filter.vignette{ start = \(Look.vignetteStart), finish = \(Look.vignetteEnd) } >> \
        filter.gamma{ gamma = \(Look.gamma) }
        """

    /// Ten of the library's point filters, and how to set them so that each does something.
    static let points = [
        "brightness{ brightness = 0.02 }", "contrast{ contrast = 1.05 }", "saturation{ saturation = 0.9 }",
        "exposure{ exposure = 0.1 }", "rgb{ red = 1.02, blue = 0.97 }", "colorMatrix{ red = { 0.9, 0.05, 0.05, 0 } }",
        "levels{ blackIn = 0.02, whiteIn = 0.97 }", "monochrome{ intensity = 0.15 }", "vignette{}",
        "gamma{ gamma = 0.95 }",
    ]

    static func chain(_ filters: [String]) -> OurWay {
        let nodes = filters.map { " >> filter." + $0 }.joined()
        return OurWay(name: "graph", graph: "picture{'a'}\(nodes) >> result{'out'}")
    }

    /// eq on the video's own components, then the vignette.
    private static let lookYCbCr = """
        local shade = kernel{ space = "ycbcr",
          params = { contrast = { \(Look.contrast), min = 0, max = 4 }, brightness = { \(Look.brightness), min = -1, max = 1 },
            saturation = { \(Look.saturation), min = 0, max = 4 }, gamma = { \(Look.gamma), min = 0.1, max = 4 } },
          pixel = function(c, p)
            local y = pow(clamp((c.r - 0.5) * p.contrast + 0.5 + p.brightness, 0, 1), p.gamma)
            local left = 1 - smoothstep(\(Look.vignetteStart), \(Look.vignetteEnd), distance(uv, vec2(0.5)))
            return vec4(y * left, c.g * p.saturation * left, c.b * p.saturation * left, 1)
          end }
        picture{"a"} >> shade >> result{"out"}
        """

    /// On video chroma is blurred as far, in pixels of the picture.
    private static func blur(_ format: PixelFormat, _ sigma: Int) -> String {
        "picture{'a'} >> filter.gaussianBlur{ sigma = \(sigma) } >> result{'out'}"
    }

    /// The sum of magnitudes, which peers have; the library's own takes the length.
    private static let sobel = """
        local sobel = kernel{ passes = {
          { name = "luma", channels = 1, pixel = function(c) return vec4(vec3(dot(c.rgb, vec3(0.299, 0.587, 0.114))), 1) end },
          { inputs = { "luma" }, sample = function(luma)
            local function at(x, y) return luma:at(x, y).r end
            local gx = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1)
            local gy = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1)
            return vec4(vec3(clamp(abs(gx) + abs(gy), 0, 1)), 1)
          end } } }
        picture{"a"} >> sobel >> result{"out"}
        """
}
