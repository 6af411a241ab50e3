internal import CSDL
import Glibc
import PatchGraph
import PatchMedia

/// One SDL window with its renderer and texture.
///
/// Thread-safety: made, used and freed on the display thread only.
final class SDLWindow {
    let sdlID: UInt32
    private let window: OpaquePointer
    private let renderer: OpaquePointer
    private let settings: DisplaySettings
    private let environment: NodeEnvironment
    private let slot: FrameSlot
    private var texture: OpaquePointer?
    private var textureFormat: VideoFormat?
    private var needsRedraw = true
    private var isClosed = false

    /// Opens a window of the asked or the picture's size, made to fit the screen.
    init(
        settings: DisplaySettings, video: VideoFormat, environment: NodeEnvironment, slot: FrameSlot
    ) throws(PatchError) {
        let size = SDLWindow.windowSize(settings.size ?? video.displaySize)
        let flags = SDL_WINDOW_RESIZABLE.rawValue | SDL_WINDOW_SHOWN.rawValue
        guard
            let window = SDL_CreateWindow(
                settings.title, Int32(bitPattern: SDL_WINDOWPOS_CENTERED_MASK),
                Int32(bitPattern: SDL_WINDOWPOS_CENTERED_MASK), size.width, size.height, flags)
        else { throw SDLWindow.failure("cannot open a window") }
        if let connection = patch_x11_display(window) { XServerLoss.survive(on: connection) }
        // SDL's own renderer: 2 ms of one core for a 720p frame, 10 ms where it is scaled to 1900x1000, with a GPU as without.
        // OpenGL is left to those who ask for it (SDL_RENDER_DRIVER=opengl), because its libraries cannot cope with an X
        // server that goes away. No vertical-blank flag: the graph's clock sets the pace, and the newest frame wins.
        let flag = getenv("SDL_RENDER_DRIVER") == nil ? SDL_RENDERER_SOFTWARE : SDL_RENDERER_ACCELERATED
        let renderer =
            SDL_CreateRenderer(window, -1, flag.rawValue)
            ?? SDL_CreateRenderer(window, -1, SDL_RENDERER_SOFTWARE.rawValue)
        guard let renderer else {
            let error = SDLWindow.failure("cannot draw in a window")
            SDL_DestroyWindow(window)
            throw error
        }
        self.window = window
        self.renderer = renderer
        self.settings = settings
        self.environment = environment
        self.slot = slot
        sdlID = SDL_GetWindowID(window)
    }

    deinit {
        if let texture { SDL_DestroyTexture(texture) }
        SDL_DestroyRenderer(renderer)
        SDL_DestroyWindow(window)
    }

    func report(_ event: NodeEvent) { environment.report(event) }

    func handle(_ event: SDL_WindowEvent) {
        switch SDL_WindowEventID(UInt32(event.event)) {
        case SDL_WINDOWEVENT_CLOSE:
            isClosed = true
            SDL_HideWindow(window)
            report(.closed)
        case SDL_WINDOWEVENT_EXPOSED, SDL_WINDOWEVENT_SIZE_CHANGED, SDL_WINDOWEVENT_SHOWN:
            needsRedraw = true
        default: break
        }
    }

    /// Draws the newest frame, or the last one again when the window changed.
    func present() {
        if let frame = slot.take(), !isClosed {
            upload(frame)
            needsRedraw = true
        }
        guard needsRedraw, !isClosed else { return }
        needsRedraw = false
        let (red, green, blue) = settings.background
        SDL_SetRenderDrawColor(renderer, red, green, blue, 255)
        SDL_RenderClear(renderer)
        if let texture, let format = textureFormat {
            setColorMode(of: format)
            var (width, height): (Int32, Int32) = (0, 0)
            SDL_GetRendererOutputSize(renderer, &width, &height)
            let place = DisplaySettings.placement(
                of: format.displaySize, in: (Int(width), Int(height)), fill: settings.fill)
            var target = SDL_Rect(
                x: Int32(place.x), y: Int32(place.y), w: Int32(place.width), h: Int32(place.height))
            SDL_RenderCopy(renderer, texture, nil, &target)
        }
        SDL_RenderPresent(renderer)
    }

    private func upload(_ frame: Frame) {
        if textureFormat != frame.format {
            if let texture { SDL_DestroyTexture(texture) }
            // A texture takes its matrix from SDL's global mode when it is made (OpenGL) or filled (software).
            setColorMode(of: frame.format)
            texture = SDLWindow.textureFormat(frame.format.pixelFormat).flatMap {
                SDL_CreateTexture(
                    renderer, $0.rawValue, Int32(SDL_TEXTUREACCESS_STREAMING.rawValue), Int32(frame.width),
                    Int32(frame.height))
            }
            textureFormat = frame.format
            guard let texture else {
                report(.problem(SDLWindow.failure("cannot show \(frame.format)").placed(node: environment.nodeID)))
                return
            }
            // The picture is opaque or premultiplied over black.
            SDL_SetTextureBlendMode(texture, SDL_BLENDMODE_NONE)
        }
        guard let texture else { return }
        setColorMode(of: frame.format)
        let (first, second, third) = (frame.planes.0, frame.planes.1, frame.planes.2)
        switch frame.format.pixelFormat {
        case .yuv420p:
            SDL_UpdateYUVTexture(
                texture, nil, first.base, Int32(first.stride), second.base, Int32(second.stride), third.base,
                Int32(third.stride))
        case .nv12:
            SDL_UpdateNVTexture(texture, nil, first.base, Int32(first.stride), second.base, Int32(second.stride))
        default: SDL_UpdateTexture(texture, nil, first.base, Int32(first.stride))
        }
    }

    private func setColorMode(of format: VideoFormat) {
        guard format.pixelFormat.isYCbCr else { return }
        SDL_SetYUVConversionMode(
            format.color.matrix == .bt601 ? SDL_YUV_CONVERSION_BT601 : SDL_YUV_CONVERSION_BT709)
    }

    private static func textureFormat(_ format: PixelFormat) -> SDL_PixelFormatEnum? {
        switch format {
        case .yuv420p: SDL_PIXELFORMAT_IYUV
        case .nv12: SDL_PIXELFORMAT_NV12
        case .bgra: SDL_PIXELFORMAT_ARGB8888
        default: nil
        }
    }

    /// `wanted`, scaled down to the usable part of the screen.
    private static func windowSize(_ wanted: (width: Int, height: Int)) -> (width: Int32, height: Int32) {
        var usable = SDL_Rect()
        var scale = 1.0
        if SDL_GetDisplayUsableBounds(0, &usable) == 0, usable.w > 0, usable.h > 0 {
            scale = min(1, Double(usable.w) / Double(wanted.width), Double(usable.h) / Double(wanted.height))
        }
        return (Int32(max(1, Double(wanted.width) * scale)), Int32(max(1, Double(wanted.height) * scale)))
    }

    private static func failure(_ message: String) -> PatchError {
        PatchError(
            .unavailable, message, remedy: "check DISPLAY, or leave the display node out; everything else goes on",
            cause: SDL_GetError().map { String(cString: $0) })
    }
}
