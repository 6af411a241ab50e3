import PatchKernel
import PatchMedia

/// Steps: what each does at a tick, and which are needed.
extension PlanExecutor {
    /// Returns false when there was nothing to do.
    func run(_ index: Int, _ tick: Tick, _ context: FrameContext, _ workers: Workers) -> Bool {
        let output = work[index].output
        if work[index].processor != nil {
            process(index, tick)
            return true
        }
        // A seed fills a slot only while a memory has nothing to put there.
        if work[index].isSeed, slots[output] != nil { return false }
        if let ends = work[index].ends {
            let progress = uniforms[ends.uniform]
            if progress <= 0 || progress >= 1 {
                slots[output] = slots[progress <= 0 ? ends.first : ends.second]
                return false
            }
        }
        if work[index].operation != nil {
            operate(index, tick, workers)
            return true
        }
        guard let pass = work[index].pass, bindInputs(of: index) == .max, let frame = takeFrame(index) else {
            slots[output] = nil
            return false
        }
        slots[output] = frame
        if let group = work[index].group {
            guard let job = job(group, index, frame, context) else { return false }
            workers.run(job, bands: group.bandCount, isSmall: frame.width * frame.height < Workers.smallestShared)
            return true
        }
        guard let job = job(index, pass, frame, context, threads: workers.count) else { return false }
        workers.run(job)
        return true
    }

    /// A group over the pictures that are bound now.
    private func job(_ group: BandGroup, _ index: Int, _ frame: Frame, _ context: FrameContext) -> BandGroupJob? {
        guard let uniformBase = uniforms.baseAddress else { return nil }
        return BandGroupJob(
            group: group, outside: UnsafeBufferPointer(start: images.baseAddress, count: work[index].inputs.count),
            output: ImageReference(frame), uniforms: UnsafePointer(uniformBase), context: context)
    }

    /// A pass over the pictures that are bound now.
    private func job(_ index: Int, _ pass: CompiledPass, _ frame: Frame, _ context: FrameContext, threads: Int)
        -> BandJob?
    {
        guard let uniformBase = uniforms.baseAddress else { return nil }
        let count = work[index].inputs.count
        var job = BandJob(
            pass: pass, inputs: UnsafeBufferPointer(start: images.baseAddress, count: count),
            output: ImageReference(frame), uniforms: UnsafePointer(uniformBase + work[index].uniformOffset),
            context: context, alignment: work[index].rowAlignment, threads: threads)
        if let chroma = work[index].chroma {
            job.chroma = ChromaJob(
                pass: chroma, inputs: UnsafeBufferPointer(start: chromaImages.baseAddress, count: count),
                output: job.output.showing(chroma.description.planes, of: frame.format.pixelFormat))
        }
        return job
    }

    private func takeFrame(_ index: Int) -> Frame? {
        if let frame = work[index].pool?.take() { return frame }
        // Consumers hold every buffer: the sink's counters show the gap.
        starved.add(1, ordering: .relaxed)
        return nil
    }

    private func process(_ index: Int, _ tick: Tick) {
        let output = work[index].output
        let made = slots[slotTable[work[index].inputs.lowerBound]].flatMap {
            work[index].processor?.process($0, at: tick.time)
        }
        slots[output] = made
        if let made, made.format != plan.slots[output] {
            slots[output] = nil
            starved.add(1, ordering: .relaxed)
        }
    }

    private func operate(_ index: Int, _ tick: Tick, _ workers: Workers) {
        let output = work[index].output
        slots[output] = nil
        guard let operation = work[index].operation, let uniformBase = uniforms.baseAddress else { return }
        let parameters = UnsafePointer(uniformBase + work[index].uniformOffset)
        if let frameOperation = work[index].frameOperation {
            slots[output] = exchange(frameOperation, index, parameters, tick)
            return
        }
        let present = bindInputs(of: index)
        let wanted = operation.neededInputs(parameters)
        if present & wanted != wanted, !work[index].toleratesMissingInputs { return }
        guard let frame = takeFrame(index) else { return }
        let count = work[index].inputs.count
        let result = operation.process(
            OperatorCall(
                inputs: UnsafeBufferPointer(start: images.baseAddress, count: count),
                present: count < 64 ? present & ((1 << UInt64(count)) - 1) : present,
                versions: UnsafeBufferPointer(start: inputVersions.baseAddress, count: count),
                output: ImageReference(frame), parameters: parameters, tick: tick,
                workers: RenderWorkers(workers: workers),
                data: work[index].data?.staging ?? UnsafeMutableBufferPointer(start: nil, count: 0)))
        switch result {
        case .filled: slots[output] = frame
        case .input(let position):
            guard position >= 0, position < count else { break }
            let slot = slotTable[work[index].inputs.lowerBound + position]
            if plan.slots[slot] == plan.slots[output] {
                slots[output] = slots[slot]
            } else {
                starved.add(1, ordering: .relaxed)
            }
        case .frame(let made):
            if made.format == plan.slots[output] {
                slots[output] = made
            } else {
                starved.add(1, ordering: .relaxed)
            }
        case .nothing: break
        }
        work[index].data?.publish(tick: tick.index)
    }

    /// Hands frames to an operator that keeps them, and takes a finished one.
    private func exchange(
        _ operation: any FrameOperator, _ index: Int, _ parameters: UnsafePointer<Float>, _ tick: Tick
    ) -> Frame? {
        let count = work[index].inputs.count
        for (position, entry) in work[index].inputs.enumerated() { gathered[position] = slots[slotTable[entry]] }
        defer { for position in 0..<count { gathered[position] = nil } }
        let made = operation.frame(
            UnsafeBufferPointer(rebasing: gathered[0..<count]), parameters: parameters, at: tick)
        if let made, made.format != plan.slots[work[index].output] {
            starved.add(1, ordering: .relaxed)
            return nil
        }
        return made
    }

    /// Points the image references at what the step reads. A bit is 0 for each input that has no frame.
    private func bindInputs(of index: Int) -> UInt64 {
        var present = UInt64.max
        for (position, entry) in work[index].inputs.enumerated() {
            if let frame = slots[slotTable[entry]] {
                images[position] = ImageReference(frame)
                inputVersions[position] = versions[slotTable[entry]]
                if let chroma = work[index].chroma {
                    chromaImages[position] = images[position].showing(
                        chroma.description.planes, of: frame.format.pixelFormat)
                }
            } else {
                images[position] = nothing
                inputVersions[position] = 0
                present &= ~(1 << UInt64(position))
            }
        }
        return present
    }

    // MARK: Demand

    /// Finds which slots this tick's results depend on: from the sinks back over the steps, where a mixer or a finished
    /// transition says what it does not look at.
    func findNeeded() {
        needed.update(repeating: false)
        for slot in sinkSlots { if let slot { needed[slot] = true } }
        for index in work.indices where work[index].isWatched { needed[work[index].output] = true }
        repeat { walkBack() } while memories.demand(needed)
    }

    private func walkBack() {
        guard let uniformBase = uniforms.baseAddress else { return }
        for index in work.indices.reversed() where needed[work[index].output] {
            // Filled by a memory already.
            if work[index].isSeed, slots[work[index].output] != nil { continue }
            if let ends = work[index].ends {
                let progress = uniforms[ends.uniform]
                if progress <= 0 || progress >= 1 {
                    needed[progress <= 0 ? ends.first : ends.second] = true
                    continue
                }
            }
            let wanted =
                work[index].operation?.neededInputs(UnsafePointer(uniformBase + work[index].uniformOffset)) ?? .max
            for (position, entry) in work[index].inputs.enumerated()
            where wanted & (1 << UInt64(position)) != 0 {
                needed[slotTable[entry]] = true
            }
        }
    }

    // MARK: Warming

    /// Computes a band of every pass and a whole picture of every native operator off air, so that the first frame on air
    /// finds code, buffers and uniforms in place.
    func warm(_ parameters: ParameterStore) {
        guard let uniformBase = uniforms.baseAddress, let alone = try? Workers(count: 1) else { return }
        defer { alone.stop() }
        parameters.present(plan.uniformTargets, into: uniformBase)
        for (index, slot) in sourceSlots.enumerated() { if let slot { slots[slot] = blanks[index] } }
        memories.recall(into: slots)
        let tick = Tick(index: 0, rate: plan.rate, hostTime: monotonicNanoseconds(), isOffline: false)
        for index in work.indices {
            if work[index].operation != nil {
                // What keeps frames must not keep blank ones.
                if work[index].frameOperation == nil { operate(index, tick, alone) }
                continue
            }
            guard !work[index].isGrouped, let pass = work[index].pass, bindInputs(of: index) == .max,
                let frame = work[index].pool?.take()
            else { continue }
            slots[work[index].output] = frame
            if let group = work[index].group {
                job(group, index, frame, FrameContext(time: 0, frame: 0))?.run(band: 0)
                continue
            }
            // A band of eight threads' is enough.
            job(index, pass, frame, FrameContext(time: 0, frame: 0), threads: 8)?.run(band: 0)
        }
        for slot in slots.indices { slots[slot] = nil }
    }
}
