import Synchronization

extension LuaState {
    /// States alive in this process: tests see with it that reloads leave nothing behind.
    static let count = Atomic<Int>(0)
}

/// States alive in this process.
package var liveLuaStates: Int { LuaState.count.load(ordering: .relaxed) }
