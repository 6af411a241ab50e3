import Glibc
import Synchronization

/// What happens when the X server goes away.
///
/// Xlib's own answer is exit(1), which would take the broadcast down with the window. Ours keeps the display thread where
/// it is, for ever, and lets everybody else go on: Xlib must not be called again on that connection.
///
/// Thread-safety: `install` on the display thread; the handler runs on the thread whose connection broke.
enum XServerLoss {
    fileprivate typealias Handler = @convention(c) (OpaquePointer?) -> Int32
    private typealias Install = @convention(c) (Handler?) -> Handler?

    fileprivate struct Registration: Sendable {
        var thread: pthread_t
        var previous: Handler?
        var onLoss: @Sendable () -> Void
    }
    fileprivate static let registration = Mutex<Registration?>(nil)

    /// Replaces Xlib's handler for broken connections (XSetIOErrorHandler), if SDL loaded Xlib.
    /// - Parameter onLoss: called once, on the display thread, which stops there.
    static func install(onLoss: @escaping @Sendable () -> Void) {
        guard let library = dlopen("libX11.so.6", RTLD_LAZY | RTLD_NOLOAD),
            let symbol = dlsym(library, "XSetIOErrorHandler")
        else { return }
        let set = unsafeBitCast(symbol, to: Install.self)
        let previous = set(connectionBroke)
        registration.withLock { current in
            // Installed again after all windows were closed: the one before ours is already known.
            let known = current?.previous
            current = Registration(
                thread: pthread_self(), previous: current == nil ? previous : known, onLoss: onLoss)
        }
    }
}

/// Xlib calls it when it cannot reach the server any more; when it returns, the process exits.
private func connectionBroke(display: OpaquePointer?) -> Int32 {
    let registration = XServerLoss.registration.withLock { $0 }
    guard let registration else { return 0 }
    guard pthread_equal(registration.thread, pthread_self()) != 0 else {
        // Another part of the program has a connection of its own: its business.
        return registration.previous?(display) ?? 0
    }
    registration.onLoss()
    while true { pause() }
}
