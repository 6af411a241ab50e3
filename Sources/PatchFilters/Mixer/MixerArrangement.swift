/// Where the slots of a mixer go in one of the usual layouts.
///
/// Positions and sizes are even, so that pictures of halved chroma are moved as they are.
/// Thread-safety: a value.
public struct MixerArrangement: Sendable {
    public enum Kind: String, CaseIterable, Sendable {
        /// Rows and columns of equal cells, the last row in the middle.
        case grid
        /// The first large at the left, the others small in a column at the right.
        case spotlight
        /// Columns of equal width.
        case sideBySide
        /// The first over the whole canvas, the others small in a corner, beside each other.
        case pictureInPicture
    }
    public enum Corner: String, CaseIterable, Sendable { case topLeft, topRight, bottomLeft, bottomRight }

    public struct Place: Hashable, Sendable {
        public var x: Int
        public var y: Int
        public var width: Int
        public var height: Int
        public var z: Int
    }

    public var kind: Kind
    public var width: Int
    public var height: Int
    /// Pixels between slots.
    public var gap = 0.0
    /// Pixels around all, or between the small pictures and the edge.
    public var margin: Double
    /// The small ones' share of the canvas's width.
    public var part: Double
    public var corner = Corner.bottomRight

    public init(_ kind: Kind, width: Int, height: Int) {
        self.kind = kind
        self.width = width
        self.height = height
        margin = kind == .pictureInPicture ? 24 : 0
        part = 0.25
    }

    /// Places for `count` slots.
    public func places(_ count: Int) -> [Place] {
        guard count > 0 else { return [] }
        let (w, h) = (Double(width), Double(height))
        switch kind {
        case .sideBySide:
            let cell = max(2, (w - 2 * margin - gap * Double(count - 1)) / Double(count))
            return (0..<count).map { place(margin + Double($0) * (cell + gap), margin, cell, h - 2 * margin, 0) }
        case .grid:
            let columns = Int(Double(count).squareRoot().rounded(.up))
            let rows = (count + columns - 1) / columns
            let cellWidth = max(2, (w - 2 * margin - gap * Double(columns - 1)) / Double(columns))
            let cellHeight = max(2, (h - 2 * margin - gap * Double(rows - 1)) / Double(rows))
            return (0..<count).map { index in
                let (row, column) = (index / columns, index % columns)
                let inRow = row == rows - 1 ? count - row * columns : columns
                let indent = Double(columns - inRow) * (cellWidth + gap) / 2
                return place(
                    margin + indent + Double(column) * (cellWidth + gap), margin + Double(row) * (cellHeight + gap),
                    cellWidth, cellHeight, 0)
            }
        case .spotlight:
            guard count > 1 else { return [place(margin, margin, w - 2 * margin, h - 2 * margin, 0)] }
            let small = max(2, w * part)
            let large = max(2, w - 2 * margin - gap - small)
            let cell = max(2, (h - 2 * margin - gap * Double(count - 2)) / Double(count - 1))
            return [place(margin, margin, large, h - 2 * margin, 0)]
                + (1..<count).map {
                    place(margin + large + gap, margin + Double($0 - 1) * (cell + gap), small, cell, 0)
                }
        case .pictureInPicture:
            let (small, low) = (max(2, w * part), max(2, h * part))
            let isLeft = corner == .topLeft || corner == .bottomLeft
            let isTop = corner == .topLeft || corner == .topRight
            return [place(0, 0, w, h, 0)]
                + (1..<max(1, count)).map { index in
                    let along = margin + Double(index - 1) * (small + gap)
                    return place(
                        isLeft ? along : w - along - small, isTop ? margin : h - margin - low, small, low, index)
                }
        }
    }

    private func place(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ z: Int) -> Place {
        func even(_ value: Double) -> Int { Int((value / 2).rounded()) * 2 }
        // Edges are rounded, not sizes, so that neighbours meet.
        let (left, top) = (even(x), even(y))
        return Place(
            x: left, y: top, width: max(2, even(x + width) - left), height: max(2, even(y + height) - top), z: z)
    }
}
