import Glibc
import Synchronization

/// What happens when the X server goes away.
///
/// Xlib's own answer is exit(1), which would take the broadcast down with the window. Here the call into Xlib fails
/// instead, the display thread takes note and never calls SDL again, and everybody else goes on.
///
/// Thread-safety: the display thread only.
enum XServerLoss {
    fileprivate typealias Handler = @convention(c) (UnsafeMutableRawPointer?) -> Int32
    fileprivate typealias ExitHandler = @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void
    private typealias SetHandler = @convention(c) (Handler?) -> Handler?
    private typealias SetExitHandler =
        @convention(c) (UnsafeMutableRawPointer?, ExitHandler?, UnsafeMutableRawPointer?) -> Void

    fileprivate struct Registration: Sendable {
        var thread: pthread_t
        var previous: Handler?
        var hasHappened = false
    }
    fileprivate static let registration = Mutex<Registration?>(nil)

    /// Whether the connection of the display thread is broken.
    static var hasHappened: Bool { registration.withLock { $0?.hasHappened ?? false } }

    /// Makes a broken connection an error like others (XSetIOErrorHandler, XSetIOErrorExitHandler).
    ///
    /// Does nothing where Xlib is older than 1.7 and cannot do that.
    /// - Parameter connection: SDL's X11 connection (`Display *`).
    static func survive(on connection: UnsafeMutableRawPointer) {
        guard let library = dlopen("libX11.so.6", RTLD_LAZY | RTLD_NOLOAD),
            let handlerSymbol = dlsym(library, "XSetIOErrorHandler"),
            let exitSymbol = dlsym(library, "XSetIOErrorExitHandler")
        else { return }
        unsafeBitCast(exitSymbol, to: SetExitHandler.self)(connection, goOn, nil)
        guard registration.withLock({ $0 == nil }) else { return }
        let previous = unsafeBitCast(handlerSymbol, to: SetHandler.self)(connectionBroke)
        registration.withLock { $0 = Registration(thread: pthread_self(), previous: previous) }
    }
}

/// Xlib calls it when it cannot reach the server any more.
private func connectionBroke(connection: UnsafeMutableRawPointer?) -> Int32 {
    let other = XServerLoss.registration.withLock { registration -> XServerLoss.Handler? in
        guard registration.map({ pthread_equal($0.thread, pthread_self()) != 0 }) == true else {
            // Another part of the program has a connection of its own: its business.
            return registration?.previous
        }
        registration?.hasHappened = true
        return nil
    }
    return other?(connection) ?? 0
}

/// Xlib calls it afterwards, to exit.
private func goOn(connection: UnsafeMutableRawPointer?, data: UnsafeMutableRawPointer?) {}
