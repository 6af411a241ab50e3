extension PlanExecutor {
    /// A sound filter's parameters over this tick's block.
    func soundParameters(_ index: Int) -> SoundParameters? {
        let sound = plan.sounds[index]
        guard let now = uniforms.baseAddress, let before = formerUniforms.baseAddress else { return nil }
        for place in sound.uniformOffset..<sound.uniformOffset + sound.uniformCount where before[place].isNaN {
            before[place] = now[place]
        }
        return SoundParameters(from: before + sound.uniformOffset, to: now + sound.uniformOffset)
    }

    /// The tick's blocks are done: the next ones begin with the present values.
    func endSound() {
        for sound in plan.sounds {
            for place in sound.uniformOffset..<sound.uniformOffset + sound.uniformCount {
                formerUniforms[place] = uniforms[place]
            }
        }
    }

    /// Sound filters that go on running go on from the values that they had.
    func inheritSound(from other: PlanExecutor) {
        for (index, sound) in plan.sounds.enumerated() {
            for (otherIndex, otherSound) in other.plan.sounds.enumerated()
            where sounds[index] === other.sounds[otherIndex] && sound.uniformCount == otherSound.uniformCount {
                for place in 0..<sound.uniformCount {
                    formerUniforms[sound.uniformOffset + place] = other.formerUniforms[otherSound.uniformOffset + place]
                }
            }
        }
    }
}
