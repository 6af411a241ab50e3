import PatchMedia

extension PassInput {
    /// What `ScalarProgram.Load` leaves a subsampled chroma sample multiplied by.
    func chromaScale(channel: Int) -> Double {
        guard format.isYCbCr, channel > 0 else { return 1 }
        let horizontal: Double = format.log2ChromaWidth == 0 ? 1 : color.siting.isCositedHorizontally ? 2 : 4
        let vertical: Double = format.log2ChromaHeight == 0 ? 1 : color.siting.isCositedVertically ? 2 : 4
        return horizontal * vertical
    }

    /// What codes may be. 10-bit words may carry anything in their unused bits.
    func codeBounds(scale: Float) -> Bounds {
        switch format.bitDepth {
        case 8: Bounds(low: 0, high: 255 * scale)
        case 10: Bounds(low: 0, high: 65535)
        default: .unknown
        }
    }
}

extension PassLowering {
    mutating func lowerRead(_ kind: NodeKind) -> [S] {
        var (input, dx, dy, edge) = (0, 0, 0, EdgeMode.clamp)
        switch kind {
        case .current(let i): input = i
        case .tap(let i, let x, let y, let e): (input, dx, dy, edge) = (i, x, y, e)
        default: preconditionFailure("not a read at a constant offset")
        }
        let stored = description.inputs[input]
        let coverage = edge == .transparent ? insideMask(input, dx, dy) : nil
        if edge == .transparent { edge = .clamp }
        if dx == 0, dy == 0 { edge = .clamp }
        // Extending a subsampled chroma row by mirroring or wrapping it would shift it by half a sample.
        let isSimple =
            stored.keepsRows
            && (edge == .clamp || stored.format.log2ChromaWidth + stored.format.log2ChromaHeight == 0)
        guard !isSimple else {
            let planes = description.planes
            if planes.log2Width + planes.log2Height > 0 {
                return readBetweenSamples(input, dx, dy, edge, coverage: coverage)
            }
            let load = { (lowering: inout PassLowering, channel: Int) -> S in
                let load = ScalarProgram.Load(
                    input: input, channel: channel, dx: dx, dy: dy, edge: edge,
                    bounds: stored.codeBounds(scale: Float(stored.chromaScale(channel: channel))))
                if stored.format.isFloat { return lowering.p.make(.load(load), .float) }
                return lowering.p.toFloat(lowering.p.make(.load(load), .int))
            }
            return decode(input, raw: load, scale: { stored.chromaScale(channel: $0) }, coverage: coverage)
        }
        let size = orientedSize(input)
        let column = p.intBinary(.intAdd, p.make(.column, .int), Int32(dx))
        let row = p.intBinary(.intAdd, p.make(.row, .int), Int32(dy))
        let x = edgeMapped(p.toFloat(column), p.toFloat(size.width), edge)
        let y = edgeMapped(p.toFloat(row), p.toFloat(size.height), edge)
        return fetch(input, x: p.toInt(x), y: p.toInt(y), coverage: coverage)
    }

    /// Chroma at an offset that counts the picture's pixels: where it falls between two samples, their mean.
    private mutating func readBetweenSamples(
        _ input: Int, _ dx: Int, _ dy: Int, _ edge: EdgeMode, coverage: S?
    ) -> [S] {
        let stored = description.inputs[input]
        let columns = description.planes.samples(at: dx, log2: description.planes.log2Width)
        let rows = description.planes.samples(at: dy, log2: description.planes.log2Height)
        let raw = { (lowering: inout PassLowering, channel: Int) -> S in
            var sum: S?
            for row in rows {
                for column in columns {
                    let load = ScalarProgram.Load(
                        input: input, channel: channel, dx: column, dy: row, edge: edge,
                        bounds: stored.codeBounds(scale: 1))
                    let sample = lowering.p.toFloat(lowering.p.make(.load(load), .int))
                    sum = sum.map { lowering.p.add($0, sample) } ?? sample
                }
            }
            return sum ?? lowering.p.float(Float(0))
        }
        return decode(input, raw: raw, scale: { _ in Double(columns.count * rows.count) }, coverage: coverage)
    }

    /// 1 where the offset pixel lies in the picture, else 0.
    private mutating func insideMask(_ input: Int, _ dx: Int, _ dy: Int) -> S {
        let size = orientedSize(input)
        var inside = p.bool(true)
        for (position, extent, offset) in [
            (p.make(.column, .int), size.width, dx), (p.make(.row, .int), size.height, dy),
        ] where offset != 0 {
            let at = p.intBinary(.intAdd, position, Int32(offset))
            inside = p.and(inside, p.not(p.intBinary(.intLess, at, 0)))
            inside = p.and(inside, p.intBinary(.intLess, at, extent))
        }
        return p.toFloat(inside)
    }

    /// Pixel (x, y) of the oriented picture, inside it.
    private mutating func fetch(_ input: Int, x: S, y: S, coverage: S?) -> [S] {
        let stored = description.inputs[input]
        let (sx, sy) = storedPosition(input, x, y)
        let raw = { (lowering: inout PassLowering, channel: Int) -> S in
            lowering.fetchChannel(stored, input, channel, sx, sy)
        }
        return decode(input, raw: raw, scale: { _ in 1 }, coverage: coverage)
    }

    private mutating func storedPosition(_ input: Int, _ x: S, _ y: S) -> (S, S) {
        let orientation = description.inputs[input].orientation
        if orientation == .identity { return (x, y) }
        let (width, height) = (p.make(.inputWidth(input), .int), p.make(.inputHeight(input), .int))
        let orientedWidth = orientation.swapsAxes ? height : width
        func reversed(_ lowering: inout PassLowering, _ extent: S, _ at: S) -> S {
            lowering.p.intBinary(.intSub, lowering.p.intBinary(.intAdd, extent, -1), at)
        }
        let column = orientation.mirrored ? reversed(&self, orientedWidth, x) : x
        switch orientation.quarterTurns {
        case 0: return (column, y)
        case 1: return (y, reversed(&self, height, column))
        case 2: return (reversed(&self, width, column), reversed(&self, height, y))
        default: return (reversed(&self, width, y), column)
        }
    }

    /// The raw code at (x, y) of the channel's plane.
    private mutating func gather(_ stored: PassInput, _ input: Int, _ channel: Int, _ x: S, _ y: S) -> S {
        let operation = ScalarProgram.Operation.gather(input: input, channel: channel)
        if stored.format.isFloat { return p.make(operation, .float, [x, y]) }
        let code = p.make(operation, .int, [x, y])
        let bounds = stored.codeBounds(scale: 1)
        p.annotate(code, low: bounds.low, high: bounds.high)
        return p.toFloat(code)
    }

    /// A raw code at a stored pixel; subsampled chroma is interpolated by its siting.
    private mutating func fetchChannel(_ stored: PassInput, _ input: Int, _ channel: Int, _ x: S, _ y: S) -> S {
        let isChroma = stored.format.isYCbCr && channel > 0
        let (log2Width, log2Height) =
            isChroma ? (stored.format.log2ChromaWidth, stored.format.log2ChromaHeight) : (0, 0)
        let columns = chromaNeighbours(
            x, p.make(.inputWidth(input), .int), log2Width, stored.color.siting.isCositedHorizontally)
        let rows = chromaNeighbours(
            y, p.make(.inputHeight(input), .int), log2Height, stored.color.siting.isCositedVertically)
        var sum: S?
        for row in rows {
            var rowSum: S?
            for column in columns {
                let sample = gather(stored, input, channel, column.at, row.at)
                let weight = p.float(column.weight)
                rowSum = if let rowSum { p.fma(sample, weight, rowSum) } else { p.mul(sample, weight) }
            }
            guard let rowSum else { continue }
            let weight = p.float(row.weight)
            sum = if let sum { p.fma(rowSum, weight, sum) } else { p.mul(rowSum, weight) }
        }
        return sum ?? p.float(Float(0))
    }

    private mutating func chromaNeighbours(
        _ at: S, _ extent: S, _ log2: Int, _ isCosited: Bool
    ) -> [(at: S, weight: Float)] {
        if log2 == 0 { return [(at, 1)] }
        let last = p.intBinary(.shiftRight, p.intBinary(.intAdd, extent, -1), 1)
        let near = p.intBinary(.shiftRight, at, 1)
        let zero = p.int(0)
        if isCosited {
            let next = p.intBinary(.intMin, p.intBinary(.shiftRight, p.intBinary(.intAdd, at, 1), 1), last)
            return [(near, 0.5), (next, 0.5)]
        }
        let isOdd = p.intBinary(.intAnd, at, 1)
        let step = p.intBinary(.intAdd, p.intBinary(.shiftLeft, isOdd, 1), -1)
        let far = p.intBinary(.intMax, p.intBinary(.intMin, p.intBinary(.intAdd, near, step), last), zero)
        return [(near, 0.75), (far, 0.25)]
    }

    /// A whole position (as float, any size) moved into 0 ..< extent by the edge mode.
    private mutating func edgeMapped(_ at: S, _ extent: S, _ edge: EdgeMode) -> S {
        let one = p.float(Float(1))
        let zero = p.float(Float(0))
        let last = p.sub(extent, one)
        var at = p.clamp(at, -1_048_576, 1_048_576)
        let half = p.float(Float(0.5))
        switch edge {
        case .clamp, .transparent: break
        case .wrap:
            let turns = p.floor(p.div(p.add(at, half), extent))
            at = p.sub(at, p.mul(turns, extent))
        case .mirror:
            let period = p.add(extent, extent)
            let turns = p.floor(p.div(p.add(at, half), period))
            at = p.sub(at, p.mul(turns, period))
            at = p.min(at, p.sub(p.sub(period, one), at))
        }
        return p.min(p.max(at, zero), last)
    }

    // MARK: Computed positions

    mutating func sample(_ input: Int, u: S, v: S, filter: SampleFilter, edge: EdgeMode) -> [S] {
        let stored = description.inputs[input]
        let size = pictureSize(input)
        let (width, height) = (p.toFloat(size.width), p.toFloat(size.height))
        let half = p.float(Float(0.5))
        // Pixel index coordinates: pixel centres are whole numbers.
        var (x, y) = (p.mul(u, width), p.mul(v, height))
        // Where positions are held inside the picture, they may be anything before.
        if filter == .bicubic || edge == .mirror || edge == .wrap {
            (x, y) = (p.clamp(x, -1_000_000, 1_000_000), p.clamp(y, -1_000_000, 1_000_000))
        }
        (x, y) = (p.sub(x, half), p.sub(y, half))
        var coverage: S?
        if edge == .transparent {
            coverage = p.mul(covered(x, width, filter), covered(y, height, filter))
        }
        if filter == .nearest {
            let planes = description.planes
            let plane = orientedSize(input)
            let cx = onPlane(x, planes.log2Width, stored.color.siting.isCositedHorizontally)
            let cy = onPlane(y, planes.log2Height, stored.color.siting.isCositedVertically)
            let column = nearest(p.add(cx, half), p.toFloat(plane.width), edge)
            let row = nearest(p.add(cy, half), p.toFloat(plane.height), edge)
            return fetch(input, x: column, y: row, coverage: coverage)
        }
        var (sx, sy) = storedContinuous(input, x, y)
        let planes = description.planes
        let siting = stored.color.siting
        sx = onPlane(sx, planes.log2Width, siting.isCositedHorizontally)
        sy = onPlane(sy, planes.log2Height, siting.isCositedVertically)
        let raw = { (lowering: inout PassLowering, channel: Int) -> S in
            lowering.interpolate(stored, input, channel, sx, sy, filter, edge)
        }
        return decode(input, raw: raw, scale: { _ in 1 }, coverage: coverage)
    }

    /// The whole position at or below a position, inside the picture.
    private mutating func nearest(_ at: S, _ extent: S, _ edge: EdgeMode) -> S {
        if edge == .mirror || edge == .wrap { return p.toIntUnchecked(edgeMapped(p.floor(at), extent, edge)) }
        return p.toIntUnchecked(held(at, extent))
    }

    /// A position moved to the first or last pixel where it lies beyond. What is no number comes to 0.
    private mutating func held(_ at: S, _ extent: S) -> S {
        p.min(p.max(at, p.float(Float(0))), p.sub(extent, p.float(Float(1))))
    }

    /// A position among the picture's pixels, among a plane's samples.
    private mutating func onPlane(_ at: S, _ log2: Int, _ isCosited: Bool) -> S {
        if log2 == 0 { return at }
        let at = p.mul(at, p.float(Float(0.5)))
        return isCosited ? at : p.sub(at, p.float(Float(0.25)))
    }

    private mutating func storedContinuous(_ input: Int, _ x: S, _ y: S) -> (S, S) {
        let orientation = description.inputs[input].orientation
        if orientation == .identity { return (x, y) }
        let one = p.float(Float(1))
        let lastX = p.sub(p.toFloat(p.make(.inputWidth(input), .int)), one)
        let lastY = p.sub(p.toFloat(p.make(.inputHeight(input), .int)), one)
        let column = orientation.mirrored ? p.sub(orientation.swapsAxes ? lastY : lastX, x) : x
        switch orientation.quarterTurns {
        case 0: return (column, y)
        case 1: return (y, p.sub(lastY, column))
        case 2: return (p.sub(lastX, column), p.sub(lastY, y))
        default: return (p.sub(lastX, y), column)
        }
    }

    /// The weight of the taps that lie inside, along one axis.
    private mutating func covered(_ at: S, _ extent: S, _ filter: SampleFilter) -> S {
        let half = p.float(Float(0.5))
        let zero = p.float(Float(0))
        let taps: [(S, S)]
        if filter == .nearest {
            taps = [(p.floor(p.add(at, half)), p.float(Float(1)))]
        } else {
            let whole = p.floor(at)
            taps = weights(p.sub(at, whole), filter).map { (p.add(whole, p.float(Float($0.0))), $0.1) }
        }
        var sum = zero
        for (tap, weight) in taps {
            let isInside = p.and(p.compare(.lessEqual, zero, tap), p.compare(.lessThan, tap, extent))
            sum = p.add(sum, p.select(isInside, weight, zero))
        }
        return p.clamp(sum, 0, 1)
    }

    /// Offsets from the whole position, and their weights.
    private mutating func weights(_ f: S, _ filter: SampleFilter) -> [(Int, S)] {
        let one = p.float(Float(1))
        if filter != .bicubic { return [(0, p.sub(one, f)), (1, f)] }
        // Catmull-Rom.
        let half = p.float(Float(0.5))
        let f2 = p.mul(f, f)
        let f3 = p.mul(f2, f)
        let w0 = p.mul(half, p.sub(p.sub(p.add(f2, f2), f3), f))
        let w1 = p.add(p.fma(p.float(Float(1.5)), f3, p.mul(p.float(Float(-2.5)), f2)), one)
        let w2 = p.fma(p.float(Float(-1.5)), f3, p.fma(p.float(Float(2)), f2, p.mul(half, f)))
        let w3 = p.mul(half, p.sub(f3, f2))
        return [(-1, w0), (0, w1), (1, w2), (2, w3)]
    }

    /// A raw code between the samples of its own plane.
    private mutating func interpolate(
        _ stored: PassInput, _ input: Int, _ channel: Int, _ x: S, _ y: S, _ filter: SampleFilter, _ edge: EdgeMode
    ) -> S {
        let isChroma = stored.format.isYCbCr && channel > 0
        let columns = axis(
            x, p.make(.inputWidth(input), .int), isChroma ? stored.format.log2ChromaWidth : 0,
            stored.color.siting.isCositedHorizontally, filter, edge)
        let rows = axis(
            y, p.make(.inputHeight(input), .int), isChroma ? stored.format.log2ChromaHeight : 0,
            stored.color.siting.isCositedVertically, filter, edge)
        var sum: S?
        for (row, rowWeight) in rows {
            var rowSum: S?
            for (column, weight) in columns {
                let sample = gather(stored, input, channel, column, row)
                rowSum = if let rowSum { p.fma(sample, weight, rowSum) } else { p.mul(sample, weight) }
            }
            guard let rowSum else { continue }
            sum = if let sum { p.fma(rowSum, rowWeight, sum) } else { p.mul(rowSum, rowWeight) }
        }
        return sum ?? p.float(Float(0))
    }

    private mutating func axis(
        _ at: S, _ extent: S, _ log2: Int, _ isCosited: Bool, _ filter: SampleFilter, _ edge: EdgeMode
    ) -> [(S, S)] {
        var at = at
        var extent = extent
        if log2 > 0 {
            extent = p.intBinary(.shiftRight, p.intBinary(.intAdd, extent, 1), 1)
            at = onPlane(at, log2, isCosited)
        }
        let size = p.toFloat(extent)
        if filter == .bilinear, edge != .mirror, edge != .wrap { return heldAxis(at, size) }
        let whole = p.floor(at)
        return weights(p.sub(at, whole), filter).map { offset, weight in
            let tap = edgeMapped(p.add(whole, p.float(Float(offset))), size, edge)
            return (p.toInt(tap), weight)
        }
    }

    /// The two samples around a position that is held inside the picture. The second is one on for all pixels alike, so that
    /// both are read by one offset; in a picture of one pixel it is the first again.
    private mutating func heldAxis(_ at: S, _ size: S) -> [(S, S)] {
        let one = p.float(Float(1))
        let zero = p.float(Float(0))
        let last = p.sub(size, one)
        let at = held(at, size)
        let whole = p.min(p.floor(at), p.max(p.sub(last, one), zero))
        let weight = p.sub(at, whole)
        let first = p.toIntUnchecked(whole)
        let step = p.toIntUnchecked(p.min(last, one))
        return [(first, p.sub(one, weight)), (p.intBinary(.intAdd, first, step), weight)]
    }
}
