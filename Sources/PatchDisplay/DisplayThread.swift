internal import CSDL
import Glibc
import PatchGraph
import PatchMedia
import Synchronization

/// A window on the display thread, by number.
struct WindowHandle: Hashable, Sendable {
    let id: Int
    /// The newest frame that waits to be shown; an older one that was not shown in time is replaced.
    let slot: FrameSlot
    static func == (a: WindowHandle, b: WindowHandle) -> Bool { a.id == b.id }
    func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// One frame on its way to a window.
final class FrameSlot: Sendable {
    private let frame = Mutex<Frame?>(nil)
    func put(_ newest: Frame) { frame.withLock { $0 = newest } }
    func take() -> Frame? {
        frame.withLock { frame in
            defer { frame = nil }
            return frame
        }
    }
}

/// The one thread that talks to SDL: all windows of the process live on it.
///
/// It starts with the first window and sleeps while there is none.
/// Thread-safety: all members may be called from any thread but its own.
final class DisplayThread: Sendable {
    static let shared = DisplayThread()

    private enum Command {
        case open(id: Int, settings: DisplaySettings, video: VideoFormat, environment: NodeEnvironment, slot: FrameSlot)
        case close(id: Int)
    }

    private struct State {
        var nextID = 1
        var commands: [Command] = []
        var results: [Int: Result<Void, PatchError>] = [:]
        var closed: Set<Int> = []
        var hasThread = false
        var hasNewFrame = false
        /// Reports of the open windows, for when the server goes away.
        var environments: [Int: NodeEnvironment] = [:]
        /// The server went away; the thread is gone with it.
        var isLost = false
    }

    private let state = Monitor(State())
    /// Makes a window and waits until it is there (or not), at most 10 s.
    /// - Throws: `PatchError.unavailable` when there is no display.
    func open(settings: DisplaySettings, video: VideoFormat, environment: NodeEnvironment) throws -> WindowHandle {
        let slot = FrameSlot()
        let id = try state.notify { state in
            if state.isLost { throw Self.lost.placed(node: environment.nodeID, at: environment.location) }
            if !state.hasThread {
                _ = try PosixThread(name: "display", stackSize: 8 << 20) { self.run() }
                state.hasThread = true
            }
            let id = state.nextID
            state.nextID += 1
            state.commands.append(
                .open(id: id, settings: settings, video: video, environment: environment, slot: slot))
            return id
        }
        let result = state.wait(until: monotonicNanoseconds() + 10_000_000_000) { state -> Result<Void, PatchError>? in
            state.results.removeValue(forKey: id) ?? (state.isLost ? .failure(Self.lost) : nil)
        }
        switch result {
        case .success?: return WindowHandle(id: id, slot: slot)
        case .failure(let error)?: throw error.placed(node: environment.nodeID, at: environment.location)
        case nil:
            state.notify { $0.commands.append(.close(id: id)) }
            throw PatchError(
                .unavailable, "the display does not answer", remedy: "check the X or Wayland server",
                node: environment.nodeID, at: environment.location)
        }
    }

    /// Shows a frame soon; returns at once. Allocates nothing.
    func show(_ frame: Frame, in window: WindowHandle) {
        window.slot.put(frame)
        state.notify { $0.hasNewFrame = true }
    }

    /// Takes the window away and waits for it, at most 2 s.
    func close(_ window: WindowHandle) {
        state.notify { $0.commands.append(.close(id: window.id)) }
        _ = state.wait(until: monotonicNanoseconds() + 2_000_000_000) {
            $0.isLost || $0.closed.remove(window.id) != nil ? true : nil
        }
    }

    // MARK: The display thread

    private func run() {
        var windows: [Int: SDLWindow] = [:]
        while true {
            let commands = nextCommands(hasWindows: !windows.isEmpty)
            for command in commands {
                switch command {
                case .open(let id, let settings, let video, let environment, let slot):
                    let result = Result<Void, PatchError> { () throws(PatchError) in
                        try startSDL()
                        windows[id] = try SDLWindow(
                            settings: settings, video: video, environment: environment, slot: slot)
                    }
                    state.notify { state in
                        state.results[id] = result
                        if windows[id] != nil { state.environments[id] = environment }
                    }
                case .close(let id):
                    windows[id] = nil
                    if windows.isEmpty { stopSDL() }
                    state.notify { state in
                        state.closed.insert(id)
                        state.environments[id] = nil
                    }
                }
            }
            if windows.isEmpty { continue }
            var event = SDL_Event()
            while SDL_PollEvent(&event) == 1 { dispatch(event, to: windows) }
            for window in windows.values { window.present() }
            if XServerLoss.hasHappened { return abandon(windows) }
        }
    }

    /// Waits for a command or a frame. SDL's own waiting is not used: another thread would have to wake it through the
    /// connection to the X server, which then could break on that thread. Keys and clicks are looked for every 8 ms.
    private func nextCommands(hasWindows: Bool) -> [Command] {
        let deadline = hasWindows ? monotonicNanoseconds() + 8_000_000 : nil
        let commands = state.wait(until: deadline) { state -> [Command]? in
            guard state.hasNewFrame || !state.commands.isEmpty else { return nil }
            state.hasNewFrame = false
            defer { state.commands.removeAll() }
            return state.commands
        }
        return commands ?? []
    }

    private func dispatch(_ event: SDL_Event, to windows: [Int: SDLWindow]) {
        switch SDL_EventType(event.type) {
        case SDL_WINDOWEVENT:
            windows.values.first { $0.sdlID == event.window.windowID }?.handle(event.window)
        case SDL_KEYDOWN where event.key.repeat == 0:
            guard let name = SDL_GetKeyName(event.key.keysym.sym) else { return }
            let key = String(cString: name).lowercased()
            if !key.isEmpty { windows.values.first { $0.sdlID == event.key.windowID }?.report(.key(key)) }
        default: break
        }
    }

    private func startSDL() throws(PatchError) {
        guard SDL_WasInit(SDL_INIT_VIDEO) == 0 else { return }
        SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1")
        SDL_SetHint(SDL_HINT_RENDER_SCALE_QUALITY, "linear")
        // Otherwise the software renderer hands its picture to OpenGL after all.
        if getenv("SDL_RENDER_DRIVER") == nil { SDL_SetHint(SDL_HINT_FRAMEBUFFER_ACCELERATION, "0") }
        SDL_SetHint(SDL_HINT_VIDEO_ALLOW_SCREENSAVER, "1")
        SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0")
        // Not a console (KMS), not a dummy that shows nothing. The environment variable SDL_VIDEODRIVER wins over this.
        SDL_SetHint(SDL_HINT_VIDEODRIVER, "x11,wayland")
        SDL_SetMainReady()
        let hasServer = getenv("DISPLAY") != nil || getenv("WAYLAND_DISPLAY") != nil
        let isForced = getenv("SDL_VIDEODRIVER") != nil
        guard hasServer || isForced else {
            throw PatchError(
                .unavailable, "there is no display to open a window on",
                remedy: "set DISPLAY or WAYLAND_DISPLAY, or leave the display node out; everything else goes on")
        }
        guard SDL_Init(SDL_INIT_VIDEO) == 0 else {
            throw PatchError(
                .unavailable, "the display cannot be opened",
                remedy: "check DISPLAY, or leave the display node out; everything else goes on",
                cause: SDL_GetError().map { String(cString: $0) })
        }
    }

    /// The X server is gone: nothing may touch SDL or its windows any more, not even to free them.
    private func abandon(_ windows: [Int: SDLWindow]) {
        for window in windows.values { _ = Unmanaged.passRetained(window) }
        let environments = state.notify { state in
            state.isLost = true
            return state.environments.values.map { $0 }
        }
        for environment in environments {
            environment.report(.problem(Self.lost.placed(node: environment.nodeID, at: environment.location)))
        }
    }

    private static let lost = PatchError(
        .unavailable, "the X server went away; nothing is shown any more",
        remedy: "start the program again to have windows")

    private func stopSDL() { SDL_QuitSubSystem(SDL_INIT_VIDEO) }
}
