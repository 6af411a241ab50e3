import PatchGraph
import PatchKernel
import PatchMedia

/// `mixer`: pictures over a canvas, back to front, each only where it lands.
///
/// The canvas has the format of the sink behind it where that is possible. What hides what is below and needs no arithmetic is
/// copied; a halved picture is averaged on its way; everything else is a pass over its part of the canvas, in place. A slot that
/// is hidden, off the canvas or under a solid one is neither drawn nor asked for. Shrinking to less than half goes by averaged
/// halves first, then bilinear. Y'CbCr that stays Y'CbCr is drawn plane by plane, chroma about the middle of its plane.
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
    private let slots: [Slot]
    private let planePasses: PlanePasses?
    private let box: CompiledPass
    private let uniforms: UnsafeMutablePointer<Float>
    private let images: UnsafeMutableBufferPointer<ImageReference>

    /// Passes over one plane as a grey picture.
    private struct PlanePasses {
        let copy: CompiledPass
        let over: CompiledPass
        let layer: CompiledPass
        let box: CompiledPass
    }

    private struct Slot {
        let input: VideoFormat
        /// Which input covers the slot.
        let mask: Int?
        let isPlain: Bool
        let isOpaque: Bool
        /// Of the canvas's layout and colour: samples can be moved as they are.
        let isSame: Bool
        /// nil where passes go plane by plane.
        let copy: CompiledPass?
        /// nil too for another blend, and with a mask.
        let over: CompiledPass?
        let layer: CompiledPass?
        /// The picture halved once, twice, …
        let levels: [Frame]
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
        if canvas.isPlanar {
            planePasses = PlanePasses(
                copy: try request.compile(MixerKernels.copy(), inputs: [grey], output: grey),
                over: try request.compile(MixerKernels.over(), inputs: [grey, grey], output: grey),
                layer: try request.compile(
                    MixerKernels.layer(blend: "normal", hasMask: false), inputs: [grey, grey], output: grey),
                box: try request.compile(MixerKernels.box(), inputs: [grey], output: grey))
        } else {
            planePasses = nil
        }
        box = try planePasses?.box ?? request.compile(MixerKernels.box(), inputs: [output], output: output)
        var nextMask = blends.count
        slots = try blends.enumerated().map { index, blend in
            let input = request.inputs[index]
            var mask: Int?
            if masks[index] != 0 {
                mask = nextMask
                nextMask += 1
            }
            var plain = output
            (plain.width, plain.height) = (input.width, input.height)
            let isSame = plain == input
            let isPlain = blend == "normal" && mask == nil
            let isPlaneWise = canvas.isPlanar && isSame && isPlain
            let sources = [input] + (mask.map { [request.inputs[$0]] } ?? [])
            return Slot(
                input: input, mask: mask, isPlain: isPlain, isOpaque: request.opaque[index], isSame: isSame,
                copy: isPlaneWise ? nil : try request.compile(MixerKernels.copy(), inputs: [input], output: output),
                over: isPlaneWise || !isPlain
                    ? nil : try request.compile(MixerKernels.over(), inputs: [output, input], output: output),
                layer: isPlaneWise
                    ? nil
                    : try request.compile(
                        MixerKernels.layer(blend: blend, hasMask: mask != nil), inputs: [output] + sources,
                        output: output), levels: Self.levels(of: input))
        }
        uniforms = .allocate(capacity: 64)
        uniforms.initialize(repeating: 0, count: 64)
        let nothing = Frame(allocating: VideoFormat(.gray8, width: 1, height: 1))
        images = .allocate(capacity: 3)
        images.initialize(repeating: ImageReference(nothing))
    }

    deinit {
        uniforms.deallocate()
        images.deallocate()
    }

    private static func levels(of format: VideoFormat) -> [Frame] {
        var frames: [Frame] = []
        var format = format
        while min(format.width, format.height) > 1, frames.count < 6 {
            (format.width, format.height) = ((format.width + 1) / 2, (format.height + 1) / 2)
            frames.append(Frame(allocating: format))
        }
        return frames
    }

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
        let p = call.parameters
        canvas.paintBackground(SIMD4(p[0], p[1], p[2], p[3]), layout, call)
        for place in 0..<layout.count {
            let slot = layout.placed[place]
            if let mask = slots[slot.index].mask, call.present & (1 << UInt64(mask)) == 0 { continue }
            paintShadow(slot, call)
            paintBeside(slot, call)
            draw(slot, call)
        }
        return .filled
    }

    private func isWholeCanvas(_ placed: PlacedSlot) -> Bool {
        let slot = slots[placed.index]
        return slot.isSame && isStraight(placed) && placed.picture == MixerRect(canvas.bounds)
            && placed.source == MixerRect(canvas.bounds)
    }

    /// Nothing but the picture itself, which hides what is below.
    private func isStraight(_ placed: PlacedSlot) -> Bool {
        let (slot, values) = (slots[placed.index], placed.values)
        return slot.isPlain && slot.isOpaque && values.opacity >= 1 && values.cornerRadius <= 0
            && values.borderWidth <= 0
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
        if canvas.isPlanar {
            let codes = canvas.codes(color) / 255
            for plane in 0..<3 {
                let step = canvas.step(ofPlane: plane)
                let part = canvas.samples(touched, plane)
                let local = scaled(rect, step, part)
                let value = codes[plane] * alpha
                write(0, local)
                write(4, value, value, value, alpha)
                write(8, radius / Float(step.y), softness / Float(step.y))
                let view = MixerCanvas.plane(call.output.plane(plane), part)
                run(box, view, view, nil, nil, call)
            }
        } else {
            let part = canvas.aligned(touched)
            let local = scaled(rect, (1, 1), part)
            write(0, local)
            write(4, color.x * alpha, color.y * alpha, color.z * alpha, alpha)
            write(8, radius, softness)
            let view = canvas.view(call.output, part)
            run(box, view, view, nil, nil, call)
        }
    }

    // MARK: Pictures

    private func draw(_ placed: PlacedSlot, _ call: OperatorCall) {
        let slot = slots[placed.index]
        var image = call.inputs[placed.index]
        var source = placed.source
        var shrink = min(source.width / placed.picture.width, source.height / placed.picture.height)
        for level in slot.levels {
            guard shrink >= 2 else { break }
            if move(placed, image, source, factor: 2, call) { return }
            halve(image, slot.input.pixelFormat, into: level, call)
            image = ImageReference(level)
            source = MixerRect(x0: source.x0 / 2, y0: source.y0 / 2, x1: source.x1 / 2, y1: source.y1 / 2)
            shrink /= 2
        }
        if move(placed, image, source, factor: 1, call) { return }
        if layOver(placed, image, source, call) { return }
        let touched = PixelRect(placed.outer, width: output.width, height: output.height)
        guard !touched.isEmpty else { return }
        if let passes = planePasses, slot.layer == nil {
            for plane in 0..<3 { drawPlane(plane, placed, image, source, touched, passes, call) }
            return
        }
        let part = canvas.aligned(touched)
        let whole = PixelRect(placed.picture, inside: true, width: output.width, height: output.height)
        let view: ImageReference
        if isStraight(placed), placed.picture.isWhole, canvas.isAligned(whole), !whole.isEmpty, let pass = slot.copy {
            view = canvas.view(call.output, whole)
            map(placed, source, image, (1, 1), whole)
            run(pass, view, nil, image, nil, call)
        } else if let pass = slot.layer {
            view = canvas.view(call.output, part)
            map(placed, source, image, (1, 1), part)
            let border = placed.values.borderColor
            shape(placed, (1, 1), part, SIMD4(border.x * border.w, border.y * border.w, border.z * border.w, border.w))
            run(pass, view, view, image, slot.mask.map { call.inputs[$0] }, call)
        }
    }

    /// Draws a picture that is not resized and lies on whole pixels: nothing is sampled.
    /// - Returns: false when it takes another pass.
    private func layOver(
        _ placed: PlacedSlot, _ image: ImageReference, _ source: MixerRect, _ call: OperatorCall
    ) -> Bool {
        let (slot, picture, values) = (slots[placed.index], placed.picture, placed.values)
        guard slot.isPlain, values.cornerRadius <= 0, values.borderWidth <= 0, picture.isWhole, source.isWhole,
            source.width == picture.width, source.height == picture.height
        else { return false }
        let inside = PixelRect(picture, inside: true, width: output.width, height: output.height)
        guard !inside.isEmpty else { return true }
        let x = Int(source.x0) + inside.x0 - Int(picture.x0), y = Int(source.y0) + inside.y0 - Int(picture.y0)
        let format = slot.input.pixelFormat
        guard canvas.isAligned(inside), x % (1 << format.log2ChromaWidth) == 0, y % (1 << format.log2ChromaHeight) == 0
        else { return false }
        uniforms[0] = values.opacity
        if let passes = planePasses, slot.layer == nil {
            for plane in 0..<3 {
                let step = canvas.step(ofPlane: plane)
                let part = canvas.samples(inside, plane)
                let view = MixerCanvas.plane(call.output.plane(plane), part)
                let from = PixelRect(x / step.x, y / step.y, x / step.x + part.width, y / step.y + part.height)
                run(passes.over, view, view, MixerCanvas.plane(image.plane(plane), from), nil, call)
            }
            return true
        }
        guard let pass = slot.over else { return false }
        let view = canvas.view(call.output, inside)
        let from = PixelRect(x, y, x + inside.width, y + inside.height)
        run(pass, view, view, MixerCanvas.part(image, from, of: format), nil, call)
        return true
    }

    private func drawPlane(
        _ plane: Int, _ placed: PlacedSlot, _ image: ImageReference, _ source: MixerRect, _ touched: PixelRect,
        _ passes: PlanePasses, _ call: OperatorCall
    ) {
        let step = canvas.step(ofPlane: plane)
        let layout = output.pixelFormat.layout(ofPlane: plane)
        let from = MixerCanvas.plane(
            image.plane(plane),
            PixelRect(0, 0, layout.width(of: image.width), layout.height(of: image.height)))
        let whole = scaled(placed.picture, step, PixelRect(0, 0, 0, 0))
        if isStraight(placed), whole.isWhole {
            let inside = PixelRect(placed.picture, inside: true, width: output.width, height: output.height)
            guard !inside.isEmpty else { return }
            let part = canvas.samples(inside, plane)
            map(placed, source, from, step, part)
            run(passes.copy, MixerCanvas.plane(call.output.plane(plane), part), nil, from, nil, call)
            return
        }
        let part = canvas.samples(touched, plane)
        let view = MixerCanvas.plane(call.output.plane(plane), part)
        map(placed, source, from, step, part)
        let border = placed.values.borderColor
        let value = canvas.codes(border)[plane] / 255 * border.w
        shape(placed, step, part, SIMD4(value, value, value, border.w))
        run(passes.layer, view, view, from, nil, call)
    }

    /// Uniforms 0…7: where the pixels of `part` lie in the source; both in samples that span `step` pixels.
    private func map(
        _ placed: PlacedSlot, _ source: MixerRect, _ image: ImageReference, _ step: (x: Int, y: Int), _ part: PixelRect
    ) {
        let picture = placed.picture
        let (kx, ky) = (source.width / picture.width, source.height / picture.height)
        let (sx, sy) = (Float(step.x), Float(step.y))
        // Canvas pixel x is read at source.x0 + (x − picture.x0) · kx; divided by the step on both sides.
        let originX = (source.x0 - picture.x0 * kx) / sx + Float(part.x0) * kx
        let originY = (source.y0 - picture.y0 * ky) / sy + Float(part.y0) * ky
        write(0, originX, originY, kx, ky)
        // Nothing beyond the crop is mixed in: its outermost samples count to its edge.
        let lowX = min(source.x0 / sx + 0.5, source.x1 / sx - 0.5),
            lowY = min(source.y0 / sy + 0.5, source.y1 / sy - 0.5)
        write(4, lowX, lowY, max(lowX, source.x1 / sx - 0.5), max(lowY, source.y1 / sy - 0.5))
    }

    /// Uniforms 8…22: edges, border and opacity.
    private func shape(_ placed: PlacedSlot, _ step: (x: Int, y: Int), _ part: PixelRect, _ border: SIMD4<Float>) {
        let picture = scaled(placed.picture, step, part)
        let outer = scaled(placed.outer, step, part)
        let values = placed.values
        write(8, picture)
        write(12, outer)
        write(16, border.x, border.y, border.z, border.w)
        let scale = Float(step.y)
        write(20, values.opacity, values.cornerRadius / scale, values.borderWidth / scale)
    }

    /// A rectangle in samples that span `step` pixels, seen from the corner of `part`.
    private func scaled(_ rect: MixerRect, _ step: (x: Int, y: Int), _ part: PixelRect) -> MixerRect {
        let (sx, sy) = (Float(step.x), Float(step.y))
        let (x, y) = (Float(part.x0), Float(part.y0))
        return MixerRect(x0: rect.x0 / sx - x, y0: rect.y0 / sy - y, x1: rect.x1 / sx - x, y1: rect.y1 / sy - y)
    }

    private func write(_ place: Int, _ a: Float, _ b: Float, _ c: Float = 0, _ d: Float = 0) {
        (uniforms[place], uniforms[place + 1], uniforms[place + 2], uniforms[place + 3]) = (a, b, c, d)
    }

    private func write(_ place: Int, _ rect: MixerRect) { write(place, rect.x0, rect.y0, rect.x1, rect.y1) }

    private func run(
        _ pass: CompiledPass, _ view: ImageReference, _ canvas: ImageReference?, _ source: ImageReference?,
        _ mask: ImageReference?, _ call: OperatorCall
    ) {
        var count = 0
        if let canvas {
            images[count] = canvas
            count += 1
        }
        if let source {
            images[count] = source
            count += 1
        }
        if let mask {
            images[count] = mask
            count += 1
        }
        call.workers.run(
            pass, inputs: UnsafeBufferPointer(start: images.baseAddress, count: count), output: view,
            uniforms: UnsafePointer(uniforms), context: call.context)
    }

    // MARK: Moving samples

    /// Copies a picture that is not resized (`factor` 1), or halves it on its way (2), where nothing else is to be done.
    /// - Returns: false when it takes a pass.
    private func move(
        _ placed: PlacedSlot, _ image: ImageReference, _ source: MixerRect, factor: Int, _ call: OperatorCall
    ) -> Bool {
        let slot = slots[placed.index]
        let picture = placed.picture
        guard slot.isSame, isStraight(placed), picture.isWhole, source.isWhole,
            source.width == picture.width * Float(factor), source.height == picture.height * Float(factor)
        else { return false }
        let inside = PixelRect(picture, inside: true, width: output.width, height: output.height)
        guard !inside.isEmpty else { return true }
        // The source pixel that the first one on the canvas shows; all planes must begin on a sample of theirs.
        let x = Int(source.x0) + (inside.x0 - Int(picture.x0)) * factor
        let y = Int(source.y0) + (inside.y0 - Int(picture.y0)) * factor
        guard canvas.isAligned(inside), x % (canvas.alignX * factor) == 0, y % (canvas.alignY * factor) == 0 else {
            return false
        }
        for plane in 0..<output.pixelFormat.planeCount {
            let layout = output.pixelFormat.layout(ofPlane: plane)
            let to = canvas.samples(inside, plane)
            let start = call.output.plane(plane)
            let target = Plane(base: start.row(to.y0) + to.x0 * layout.bytesPerPixel, stride: start.stride)
            let first = image.plane(plane)
            let from = Plane(
                base: first.row(y >> layout.log2Height) + (x >> layout.log2Width) * layout.bytesPerPixel,
                stride: first.stride)
            let bands = call.workers.count * 4
            let isSmall = to.width * to.height < 65_536
            if factor == 1 {
                call.workers.run(
                    CopyRows(
                        from: from, to: target, bytes: to.width * layout.bytesPerPixel, rows: to.height, bands: bands),
                    bands: bands, isSmall: isSmall)
            } else {
                // An odd edge of the source's plane counts again.
                let width = min(2 * to.width, layout.width(of: image.width) - (x >> layout.log2Width))
                let height = min(2 * to.height, layout.height(of: image.height) - (y >> layout.log2Height))
                call.workers.run(
                    HalvePlane(
                        from: from, width: width, height: height, components: layout.bytesPerPixel, to: target,
                        bands: bands), bands: bands, isSmall: isSmall)
            }
        }
        return true
    }

    private func halve(_ image: ImageReference, _ format: PixelFormat, into level: Frame, _ call: OperatorCall) {
        let bands = call.workers.count * 4
        for plane in 0..<format.planeCount {
            let layout = format.layout(ofPlane: plane)
            let (width, height) = (layout.width(of: image.width), layout.height(of: image.height))
            call.workers.run(
                HalvePlane(
                    from: image.plane(plane), width: width, height: height, components: layout.bytesPerPixel,
                    to: level.plane(plane), bands: bands), bands: bands, isSmall: width * height < 131_072)
        }
    }
}

extension MixerRect {
    init(_ rect: PixelRect) {
        self.init(x0: Float(rect.x0), y0: Float(rect.y0), x1: Float(rect.x1), y1: Float(rect.y1))
    }
}
