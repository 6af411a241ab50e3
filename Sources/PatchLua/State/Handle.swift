internal import CLua
import PatchMedia

/// What a userdata stands for: a tag and three numbers that index Swift's own tables, so that nothing needs a finalizer.
///
/// Thread-safety: a value.
struct Handle: Hashable {
    enum Tag: Int32, CaseIterable {
        case node, port, media, control, look, group, secret, animation, namespace, slots, slot, session
        // Inside kernels.
        case pixel, reader, parameters

        var title: String {
            switch self {
            case .node: "a node"
            case .port: "a port"
            case .media: "one medium of a node"
            case .control: "a control"
            case .look: "a filter that is not a node yet (write name{ … })"
            case .group: "a group"
            case .secret: "a secret"
            case .animation: "an animation"
            case .namespace: "a family of filters (write filter.name{ … })"
            case .slots: "the slots of a mixer"
            case .slot: "a slot of a mixer"
            case .session: "a session"
            case .pixel: "a pixel value"
            case .reader: "an input of a kernel"
            case .parameters: "the parameters of a kernel"
            }
        }
    }

    var tag: Tag
    var a: Int32
    var b: Int32
    var c: Int32

    init(_ tag: Tag, _ a: Int32, _ b: Int32 = 0, _ c: Int32 = 0) {
        (self.tag, self.a, self.b, self.c) = (tag, a, b, c)
    }
    init(_ tag: Tag, _ a: Int, _ b: Int = 0, _ c: Int = 0) {
        self.init(tag, Int32(truncatingIfNeeded: a), Int32(truncatingIfNeeded: b), Int32(truncatingIfNeeded: c))
    }

    var index: Int { Int(a) }
}

extension LuaState {
    /// Makes the metatable for handles of a tag; `fill` finds it on top of the stack.
    func defineHandle(_ tag: Handle.Tag, _ fill: (LuaCall) -> Void) {
        let call = LuaCall(state: self, pointer: pointer)
        call.pushTable()
        fill(call)
        call.push(false)
        call.setField("__metatable")
        call.push("patchbay." + "\(tag)")
        call.setField("__name")
        metatables[tag] = call.keep()
    }
}

extension LuaCall {
    func push(_ handle: Handle) {
        lua_checkstack(pointer, 4)
        patch_new_handle(pointer)?.pointee = patch_handle(
            tag: handle.tag.rawValue, a: handle.a, b: handle.b, c: handle.c)
        if let metatable = state.metatables[handle.tag] {
            push(metatable)
            lua_setmetatable(pointer, -2)
        }
    }
}
