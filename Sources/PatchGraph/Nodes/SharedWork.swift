import Synchronization

/// What the nodes of one engine use together, such as an encoder that feeds two outputs: one object of each type.
///
/// Thread-safety: all members may be called from any thread.
public final class SharedWork: Sendable {
    private let objects = Mutex<[ObjectIdentifier: any Sendable]>([:])

    public init() {}

    /// The object of this type, made when it is asked for the first time.
    public func object<Object: AnyObject & Sendable>(_ type: Object.Type = Object.self, make: () -> Object) -> Object {
        objects.withLock { objects in
            if let known = objects[ObjectIdentifier(type)] as? Object { return known }
            let made = make()
            objects[ObjectIdentifier(type)] = made
            return made
        }
    }
}
