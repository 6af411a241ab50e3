/// A first-in, first-out line that allocates only when it grows.
struct Ring<Element> {
    private var slots: [Element?]
    private var head = 0
    private(set) var count = 0

    init(capacity: Int) { slots = Array(repeating: nil, count: max(1, capacity)) }

    var first: Element? { count > 0 ? slots[head] : nil }
    var last: Element? { count > 0 ? slots[position(count - 1)] : nil }

    /// - Precondition: `index`, counted from the first element, is below `count`.
    subscript(index: Int) -> Element {
        precondition(index >= 0 && index < count)
        // Slots in use are never nil.
        return slots[position(index)]!
    }

    mutating func reserve(_ capacity: Int) {
        guard capacity > slots.count else { return }
        var larger = [Element?](repeating: nil, count: capacity)
        for index in 0..<count { larger[index] = slots[position(index)] }
        (slots, head) = (larger, 0)
    }

    mutating func append(_ element: Element) {
        if count == slots.count { reserve(2 * count) }
        slots[position(count)] = element
        count += 1
    }

    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = slots[head]
        slots[head] = nil
        head = position(1)
        count -= 1
        return element
    }

    mutating func popLast() -> Element? {
        guard count > 0 else { return nil }
        count -= 1
        defer { slots[position(count)] = nil }
        return slots[position(count)]
    }

    /// - Precondition: not empty.
    mutating func replaceFirst(_ element: Element) {
        precondition(count > 0)
        slots[head] = element
    }

    /// - Precondition: not empty.
    mutating func replaceLast(_ element: Element) {
        precondition(count > 0)
        slots[position(count - 1)] = element
    }

    private func position(_ index: Int) -> Int { (head + index) % slots.count }
}
