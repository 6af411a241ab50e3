import PatchGraph
import PatchKernel
import PatchMedia

/// `mixer`: pictures over a canvas, back to front, each only where it lands.
///
/// The canvas has the format of the sink behind it where that is possible. What hides what is below and needs no arithmetic is
/// moved, halved or resampled straight into the canvas; everything else is a pass over its part of the canvas, in place, which
/// reads the picture at the size that it has there. A slot that is hidden, off the canvas or under a solid one is neither
/// drawn nor asked for; a slot over nothing but the background does without reading the canvas. Y'CbCr that stays Y'CbCr is
/// drawn plane by plane, chroma about the middle of its plane, unless the graph wants light to be mixed. All is listed first and
/// then drawn band by band.
/// Thread-safety: as `NativeOperator`.
final class Mixer: NativeOperator, @unchecked Sendable {
    // Unchecked: everything that changes is touched by `process` and `neededInputs` alone, which the engine calls on one
    // thread at a time; bands write disjoint rows.
    static let kind = OperatorKind(
        name: "mixer", summary: "Lays pictures over a canvas.", inputs: 0...48,
        formats: [.rgba, .bgra, .yuv420p, .yuv422p, .yuv444p, .nv12, .gray8], toleratesMissingInputs: true,
        prefersOutputFormat: true
    ) { try Mixer($0) }

    let output: VideoFormat
    private let canvas: MixerCanvas
    private let layout: MixerLayout
    private let slots: [MixerSlot]
    private let planePasses: PlanePasses?
    /// Where a picture with alpha may be laid over planes.
    private let planes: MixerPlanes?
    private let laying: RowCode.Laying
    private let box: CompiledPass
    private let draws: MixerDraws
    private let scratch: MixerScratch
    /// Of the placed slots, those under which there is nothing but the background.
    private let isAlone: UnsafeMutableBufferPointer<Bool>

    /// Passes over one plane as a grey picture.
    private struct PlanePasses {
        let over: CompiledPass
        let overColor: CompiledPass
        let layer: CompiledPass
        let box: CompiledPass
    }

    init(_ request: OperatorRequest) throws {
        let blends = request.options.strings("blends") ?? []
        let masks = request.options.vector("masks") ?? []
        guard blends.count == masks.count, request.inputs.count == blends.count + masks.count(where: { $0 != 0 }),
            request.parameters.reduce(0, { $0 + $1.count })
                == MixerSchema.canvasFloats + blends.count * MixerSchema.slotFloats
        else { throw PatchError(.graph, "the mixer's slots do not agree with its inputs") }
        var output = VideoFormat(.rgba, width: request.width, height: request.height)
        if let preferred = request.preferredOutput, MixerCanvas.formats.contains(preferred.pixelFormat),
            preferred.orientation == .identity, preferred.premultiplied
        {
            output = preferred
        }
        self.output = output
        let canvas = MixerCanvas(output)
        self.canvas = canvas
        layout = MixerLayout(
            width: request.width, height: request.height,
            sources: request.inputs.prefix(blends.count).map { ($0.width, $0.height) },
            isOpaque: blends.indices.map { request.opaque[$0] && blends[$0] == "normal" && masks[$0] == 0 })
        let grey = VideoFormat(.gray8, width: 1, height: 1, color: .srgb)
        if canvas.isPlanar && request.light == .encoded {
            planePasses = PlanePasses(
                over: try request.compile(MixerKernels.over(), inputs: [grey, grey], output: grey),
                overColor: try request.compile(MixerKernels.overColor(), inputs: [grey], output: grey),
                layer: try request.compile(
                    MixerKernels.layer(blend: "normal", hasMask: false), inputs: [grey, grey], output: grey),
                box: try request.compile(MixerKernels.box(), inputs: [grey], output: grey))
        } else {
            planePasses = nil
        }
        box =
            try planePasses?.box
            ?? request.compile(MixerKernels.box(request.light), inputs: [output], output: output)
        let code = try request.resizingRows()
        laying = try request.layingRows()
        planes = canvas.isPlanar ? MixerPlanes(canvas, laying) : nil
        var nextMask = blends.count
        var slots: [MixerSlot] = []
        for (index, blend) in blends.enumerated() {
            let mask = masks[index] != 0 ? nextMask : nil
            if mask != nil { nextMask += 1 }
            slots.append(
                try MixerSlot(request, index: index, mask: mask, blend: blend, canvas: canvas, code: code))
        }
        self.slots = slots
        draws = MixerDraws(slots: slots.count, backgroundParts: MixerCanvas.mostParts)
        let readers = slots.flatMap(\.readers)
        scratch = MixerScratch(
            rows: readers.map(\.scratchRows).max() ?? 0, samples: readers.map(\.scratchBytes).max() ?? 0,
            width: output.width, strip: MixerBands.stripBytes(width: output.width))
        isAlone = .allocate(capacity: max(1, slots.count))
        isAlone.initialize(repeating: false)
    }

    deinit { isAlone.deallocate() }

    func neededInputs(_ parameters: UnsafePointer<Float>) -> UInt64 {
        layout.update(parameters, present: .max)
        var needed: UInt64 = 0
        for place in 0..<layout.count {
            let index = layout.placed[place].index
            needed |= 1 << UInt64(index)
            if let mask = slots[index].mask { needed |= 1 << UInt64(mask) }
        }
        return needed
    }

    func process(_ call: OperatorCall) -> OperatorResult {
        layout.update(call.parameters, present: call.present)
        if layout.count == 1, isWholeCanvas(layout.placed[0]) { return .input(layout.placed[0].index) }
        draws.removeAll()
        canvas.uncover()
        for place in 0..<layout.count {
            let placed = layout.placed[place]
            isAlone[place] = standsAlone(place)
            canvas.cover(isAlone[place] ? inside(placed) : placed.solid)
        }
        let p = call.parameters
        canvas.paintBackground(SIMD4(p[0], p[1], p[2], p[3]), call.output, draws)
        for place in 0..<layout.count {
            let placed = layout.placed[place]
            if let mask = slots[placed.index].mask, call.present & (1 << UInt64(mask)) == 0 { continue }
            paintShadow(placed, call)
            paintBeside(placed, call)
            draw(place, call)
        }
        let bands = (output.height + MixerBands.rows - 1) / MixerBands.rows
        call.workers.run(
            MixerBands(draws: draws, height: output.height, scratch: scratch, context: call.context), bands: bands,
            isSmall: output.width * output.height < 65_536)
        return .filled
    }

    private func isWholeCanvas(_ placed: PlacedSlot) -> Bool {
        let slot = slots[placed.index]
        return slot.isSame && isFlat(placed) && isSolid(placed) && placed.picture == MixerRect(canvas.bounds)
            && placed.source == MixerRect(canvas.bounds)
    }

    /// Nothing but the picture itself, on whole pixels.
    private func isFlat(_ placed: PlacedSlot) -> Bool {
        slots[placed.index].isPlain && placed.values.cornerRadius <= 0 && placed.values.borderWidth <= 0
            && placed.picture.isWhole
    }

    /// The picture hides what is below.
    private func isSolid(_ placed: PlacedSlot) -> Bool {
        slots[placed.index].isOpaque && placed.values.opacity >= 1
    }

    /// The pixels that lie in the picture wholly.
    private func inside(_ placed: PlacedSlot) -> PixelRect {
        PixelRect(placed.picture, inside: true, width: output.width, height: output.height)
    }

    /// Whether there is nothing but the background under a picture that is laid over it by its alpha.
    private func standsAlone(_ place: Int) -> Bool {
        let placed = layout.placed[place]
        let (slot, values, area) = (slots[placed.index], placed.values, inside(placed))
        guard slot.isPlaneWise || slot.isSettled, isFlat(placed), !area.isEmpty, canvas.isAligned(area),
            values.shadowColor.w <= 0, values.fill.w <= 0 || placed.outer == placed.picture
        else { return false }
        for below in 0..<place where !layout.placed[below].bounds.intersection(area).isEmpty { return false }
        return true
    }

    // MARK: Boxes

    private func paintShadow(_ placed: PlacedSlot, _ call: OperatorCall) {
        let values = placed.values
        guard values.shadowColor.w > 0 else { return }
        let rect = placed.outer.moved(values.shadowOffset)
        let touched = PixelRect(rect.grown(values.shadowBlur + 1), width: output.width, height: output.height)
        paintBox(
            rect, touched, values.shadowColor, opacity: values.opacity, radius: values.cornerRadius,
            softness: values.shadowBlur, call)
    }

    private func paintBeside(_ placed: PlacedSlot, _ call: OperatorCall) {
        let values = placed.values
        guard values.fill.w > 0, placed.outer != placed.picture else { return }
        let touched = PixelRect(placed.outer, width: output.width, height: output.height)
        paintBox(
            placed.outer, touched, values.fill, opacity: values.opacity, radius: values.cornerRadius, softness: 0, call)
    }

    private func paintBox(
        _ rect: MixerRect, _ touched: PixelRect, _ color: SIMD4<Float>, opacity: Float, radius: Float, softness: Float,
        _ call: OperatorCall
    ) {
        guard !touched.isEmpty else { return }
        let alpha = color.w * opacity
        guard planePasses != nil else {
            let part = canvas.aligned(touched)
            draws.append(
                box, canvas.view(call.output, part), part, log2Rows: 0, canvas: true,
                values: floats(
                    scaled(rect, (1, 1), part), SIMD4(color.x, color.y, color.z, alpha),
                    SIMD4(radius, softness, 0, 0)))
            return
        }
        let codes = canvas.codes(color) / 255
        for plane in 0..<3 {
            let step = canvas.step(ofPlane: plane)
            let part = canvas.samples(touched, plane)
            let value = codes[plane]
            draws.append(
                box, MixerCanvas.plane(call.output.plane(plane), part), part, log2Rows: canvas.log2Rows(plane),
                canvas: true,
                values: floats(
                    scaled(rect, step, part), SIMD4(value, value, value, alpha),
                    SIMD4(radius / Float(step.y), softness / Float(step.y), 0, 0)))
        }
    }

    // MARK: Pictures

    private func draw(_ place: Int, _ call: OperatorCall) {
        let placed = layout.placed[place]
        let slot = slots[placed.index]
        let image = call.inputs[placed.index]
        let area = inside(placed)
        let isExact = isFlat(placed) && canvas.isAligned(area)
        if isExact && area.isEmpty { return }
        let opacity = placed.values.opacity
        if slot.isPlaneWise {
            for plane in 0..<3 { drawPlane(plane, place, isExact: isExact, image, call) }
        } else if isExact, slot.isSame, isSolid(placed) {
            for plane in 0..<output.pixelFormat.planeCount { move(plane, placed, area, image, call) }
        } else if let planes, slot.isMixed, !(isExact && isSolid(placed)) {
            mix(placed, planes, isExact: isExact, image, call)
        } else if isExact, isAlone[place] {
            slot.aim(image, placed, area)
            let below = background(call)
            draws.append(
                slot.readers[0], laying.settle, area, plane: call.output.plane(0),
                color: output.pixelFormat == .bgra ? SIMD4(below.z, below.y, below.x, below.w) : below, opacity: opacity
            )
        } else if isExact, let pass = isSolid(placed) ? slot.copy : slot.over {
            slot.aim(image, placed, area)
            let readsCanvas = !isSolid(placed)
            let source = slot.picture(image: readsCanvas ? 1 : 0, width: area.width, height: area.height)
            draws.append(
                pass, canvas.view(call.output, area), area, log2Rows: 0, canvas: readsCanvas, source: source.view,
                strip: source.strip, values: SIMD16(repeating: opacity))
        } else if let pass = slot.layer {
            let touched = PixelRect(placed.outer, width: output.width, height: output.height)
            guard !touched.isEmpty else { return }
            let part = canvas.aligned(touched)
            slot.aim(image, placed, part)
            let source = slot.picture(image: 1, width: part.width, height: part.height)
            draws.append(
                pass, canvas.view(call.output, part), part, log2Rows: 0, canvas: true, source: source.view,
                mask: slot.mask.map { call.inputs[$0] }, strip: source.strip,
                values: shape(placed, (1, 1), part, placed.values.borderColor))
        }
    }

    /// One plane of a picture of the canvas's own kind.
    private func drawPlane(
        _ plane: Int, _ place: Int, isExact: Bool, _ image: ImageReference, _ call: OperatorCall
    ) {
        let placed = layout.placed[place]
        let slot = slots[placed.index]
        let step = canvas.step(ofPlane: plane)
        // A plane may be exact where another is not.
        let isWhole = isExact || isFlat(placed) && scaled(placed.picture, step, PixelRect(0, 0, 0, 0)).isWhole
        let area = inside(placed)
        if isWhole && isSolid(placed) { return move(plane, placed, area, image, call) }
        let touched = PixelRect(placed.outer, width: output.width, height: output.height)
        let part = canvas.samples(isExact ? area : touched, plane)
        guard !part.isEmpty, let passes = planePasses else { return }
        let reader = slot.readers[plane]
        slot.aim(reader, image.plane(plane), placed, samples: part, step: step)
        let readsCanvas = !(isExact && isAlone[place])
        let source = grey(reader, image: readsCanvas ? 1 : 0, part)
        let pass = isExact ? readsCanvas ? passes.over : passes.overColor : passes.layer
        let values: SIMD16<Float>
        if isExact {
            let opacity = placed.values.opacity
            let below = canvas.codes(background(call))[plane] / 255
            values =
                readsCanvas
                ? SIMD16(repeating: opacity)
                : floats(SIMD4(below, below, below, 1), SIMD4(repeating: opacity))
        } else {
            let border = placed.values.borderColor
            let value = canvas.codes(border)[plane] / 255
            values = shape(placed, step, part, SIMD4(value, value, value, border.w))
        }
        draws.append(
            pass, MixerCanvas.plane(call.output.plane(plane), part), part, log2Rows: canvas.log2Rows(plane),
            canvas: readsCanvas, source: source.view, strip: source.strip, values: values)
    }

    /// A plane of the canvas straight from the same plane of the picture.
    private func move(
        _ plane: Int, _ placed: PlacedSlot, _ area: PixelRect, _ image: ImageReference, _ call: OperatorCall
    ) {
        let slot = slots[placed.index]
        let part = canvas.samples(area, plane)
        guard !part.isEmpty else { return }
        slot.aim(
            slot.readers[plane], image.plane(plane), placed, samples: part, step: canvas.step(ofPlane: plane))
        draws.append(
            .place(slot.readers[plane]), part, log2Rows: canvas.log2Rows(plane), plane: call.output.plane(plane))
    }

    /// R'G'B' with alpha over the planes of Y'CbCr: as it is, or what its shape leaves of it.
    private func mix(
        _ placed: PlacedSlot, _ planes: MixerPlanes, isExact: Bool, _ image: ImageReference, _ call: OperatorCall
    ) {
        let slot = slots[placed.index]
        let touched = PixelRect(placed.outer, width: output.width, height: output.height)
        let area = isExact ? inside(placed) : canvas.aligned(touched)
        guard !touched.isEmpty, !area.isEmpty else { return }
        let step = slot.still?.next(
            MixerStill.Key(
                picture: call.versions[placed.index], mask: slot.mask.map { call.versions[$0] }, placed: placed))
        if step == .reuse, let still = slot.still {
            return draws.append(planes, still, area, canvas: call.output)
        }
        slot.aim(image, placed, area)
        var shape: MixerDraws.Pass?
        if !isExact {
            guard let pass = slot.layer else { return }
            let source = slot.picture(image: 0, width: area.width, height: area.height)
            shape = draws.pass(
                pass, nil, source.view, slot.mask.map { call.inputs[$0] }, strip: source.strip,
                values: self.shape(placed, (1, 1), area, placed.values.borderColor))
        }
        draws.append(
            planes, slot.readers[0], area, canvas: call.output, opacity: isExact ? placed.values.opacity : 1,
            isBlue: slot.input.pixelFormat == .bgra, shape: shape, keepingIn: step == .keep ? slot.still : nil)
    }

    private func grey(
        _ reader: PlaneReader, image: Int, _ part: PixelRect
    ) -> (view: ImageReference, strip: MixerDraws.Strip?) {
        let plane = reader.view
        return (
            ImageReference(planes: (plane, plane, plane, plane), width: part.width, height: part.height),
            reader.isCopied ? nil : MixerDraws.Strip(readers: (reader, nil, nil), image: image, format: .gray8)
        )
    }

    // MARK: Numbers

    /// The background, premultiplied.
    private func background(_ call: OperatorCall) -> SIMD4<Float> {
        let p = call.parameters
        return SIMD4(p[0] * p[3], p[1] * p[3], p[2] * p[3], p[3])
    }

    /// What `layer` takes: edges, border and opacity.
    private func shape(
        _ placed: PlacedSlot, _ step: (x: Int, y: Int), _ part: PixelRect, _ border: SIMD4<Float>
    ) -> SIMD16<Float> {
        let (values, scale) = (placed.values, Float(step.y))
        return floats(
            scaled(placed.picture, step, part).vector, scaled(placed.outer, step, part).vector, border,
            SIMD4(values.opacity, values.cornerRadius / scale, values.borderWidth / scale, 0))
    }

    private func floats(_ rect: MixerRect, _ b: SIMD4<Float>, _ c: SIMD4<Float>) -> SIMD16<Float> {
        floats(rect.vector, b, c)
    }

    private func floats(
        _ a: SIMD4<Float>, _ b: SIMD4<Float>, _ c: SIMD4<Float> = .zero, _ d: SIMD4<Float> = .zero
    ) -> SIMD16<Float> {
        SIMD16(lowHalf: SIMD8(lowHalf: a, highHalf: b), highHalf: SIMD8(lowHalf: c, highHalf: d))
    }

    /// A rectangle in samples that span `step` pixels, seen from the corner of `part`.
    private func scaled(_ rect: MixerRect, _ step: (x: Int, y: Int), _ part: PixelRect) -> MixerRect {
        let (sx, sy) = (Float(step.x), Float(step.y))
        let (x, y) = (Float(part.x0), Float(part.y0))
        return MixerRect(x0: rect.x0 / sx - x, y0: rect.y0 / sy - y, x1: rect.x1 / sx - x, y1: rect.y1 / sy - y)
    }
}

extension MixerRect {
    init(_ rect: PixelRect) {
        self.init(x0: Float(rect.x0), y0: Float(rect.y0), x1: Float(rect.x1), y1: Float(rect.y1))
    }
    var vector: SIMD4<Float> { SIMD4(x0, y0, x1, y1) }
}
