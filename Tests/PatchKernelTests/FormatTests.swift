import PatchKernel
import PatchMedia
import Testing

@Suite struct FormatTests {
    /// Every input format to every output format: the machine code agrees with the interpreter within one code, and
    /// bands agree with the whole exactly.
    @Test(arguments: PixelFormat.allCases)
    func everyFormatToEveryFormat(_ source: PixelFormat) throws {
        let compiler = KernelCompiler()
        var random = SeededRandom(UInt64(source.rawValue.utf8.reduce(7) { $0 * 31 + UInt64($1) }))
        for target in PixelFormat.allCases {
            let description = PassDescription(
                kernel: StandardKernels.copy, inputs: [PassInput(format: source)], output: PassOutput(format: target))
            let pass = try compiler.compile(description)
            for (width, height) in [(1, 1), (2, 3), (15, 4), (33, 5), (64, 2), (67, 7)] {
                let input = TestPicture(source, width, height)
                input.fillRandom(&random)
                let expected = TestPicture(target, width, height)
                interpret(description, [input], expected)
                let whole = TestPicture(target, width, height)
                run(pass, [input], whole)
                let (codes, place) = difference(whole, expected)
                #expect(codes <= 1, "\(source) to \(target) at \(width)x\(height): \(place)")
                let banded = TestPicture(target, width, height, bottomUp: true, padding: 3)
                run(pass, [input], banded, bands: 3)
                #expect(difference(whole, banded).codes == 0, "\(source) to \(target) at \(width)x\(height) in bands")
            }
        }
    }
}
