import PatchGraph
import PatchMedia
import PatchTesting
import PatchText
import Testing

/// Letters against pango-view, which draws with another front end: what is joined, reordered, stacked and coloured must
/// be alike; where lines stand may differ by a fraction of a pixel.
@Suite struct TextShapingTests {
    struct Sample: Sendable, CustomStringConvertible {
        var description: String
        var text: String
        var font: String
        /// The same letters in an order that no shaping would give.
        var wrong: String
    }

    static let samples = [
        Sample(description: "Latin", text: "Wavy AV fi Ångström", font: "Noto Sans", wrong: "mörtsgnÅ if VA yvaW"),
        Sample(description: "Arabic", text: "السلام عليكم", font: "Noto Sans Arabic", wrong: "ا ل س ل ا م"),
        Sample(
            description: "Devanagari", text: "क्षत्रिय हिन्दी", font: "Noto Sans Devanagari", wrong: "क ष त र य ह न द"),
        Sample(
            description: "Hebrew and Latin", text: "שלום world 123", font: "Noto Sans Hebrew", wrong: "123 world םולש"),
    ]

    @Test(arguments: samples)
    func lettersAreShapedAsPangoShapesThem(_ sample: Sample) throws {
        let frame = try TextRun.draw(
            sample.text, ["font": .string(sample.font), "size": .number(64), "background": .vector([0, 0, 0, 1])])
        let ours = GrayPicture(frame, channel: 1)
        func reference(_ text: String) throws -> GrayPicture {
            let drawn = try PangoView.draw(text, font: sample.font, size: 64)
            return GrayPicture(width: drawn.width, height: drawn.height, rgb: drawn.rgb, channel: 1)
        }
        let right = try reference(sample.text)
        let likeness = ours.likeness(to: right)
        #expect(likeness > 0.97, "\(sample) is like pango-view's to \(likeness)")
        #expect(abs(ours.sum / right.sum - 1) < 0.02, "as much ink")
        #expect(ours.likeness(to: try reference(sample.wrong)) < 0.85, "the comparison can tell letters apart")
    }

    @Test func emojiHaveTheirColours() throws {
        let frame = try TextRun.draw(
            "🍎🌳", ["font": .string("Noto Color Emoji"), "size": .number(64), "background": .vector([0, 0, 0, 1])])
        let drawn = try PangoView.draw("🍎🌳", font: "Noto Color Emoji", size: 64)
        for channel in 0..<3 {
            let reference = GrayPicture(width: drawn.width, height: drawn.height, rgb: drawn.rgb, channel: channel)
            let likeness = GrayPicture(frame, channel: channel).likeness(to: reference)
            #expect(likeness > 0.97, "channel \(channel): \(likeness)")
        }
        // An apple is red, a tree is green.
        let (red, green) = (GrayPicture(frame, channel: 0), GrayPicture(frame, channel: 1))
        let half = frame.width / 2
        func sum(_ picture: GrayPicture, _ columns: Range<Int>) -> Float {
            columns.reduce(0) { sum, x in sum + (0..<picture.height).reduce(0) { $0 + picture[x, $1] } }
        }
        #expect(sum(red, 0..<half) > 1.5 * sum(green, 0..<half))
        #expect(sum(green, half..<frame.width) > 1.2 * sum(red, half..<frame.width))
    }

    @Test(arguments: ["left", "center", "right"])
    func linesWrapAndLieAsPangoLaysThem(_ align: String) throws {
        let text = "The quick brown fox jumps over the lazy dog"
        let frame = try TextRun.draw(
            text,
            [
                "font": .string("Noto Sans"), "size": .number(40), "width": .number(316), "padding": .number(8),
                "align": .string(align), "background": .vector([0, 0, 0, 1]),
            ])
        #expect(frame.width == 316)
        let drawn = try PangoView.draw(
            text, font: "Noto Sans", size: 40, arguments: ["--width=300", "--align=\(align)", "--wrap=word-char"])
        let reference = GrayPicture(width: drawn.width, height: drawn.height, rgb: drawn.rgb, channel: 1)
        let likeness = GrayPicture(frame, channel: 1).likeness(to: reference)
        #expect(likeness > 0.95, "\(likeness)")
    }

    /// Right-to-left text begins at the right.
    @Test func rightToLeftTextBeginsAtTheRight() throws {
        func bounds(_ text: String) throws -> (left: Int, right: Int) {
            let frame = try TextRun.draw(text, ["size": .number(30), "width": .number(600)])
            let bounds = try #require(GrayPicture(frame, channel: 3).bounds(above: 20))
            return (bounds.left, bounds.right)
        }
        #expect(try bounds("سلام").right > 590)
        #expect(try bounds("hello").left < 10)
    }

    @Test func marksChangeLetters() throws {
        let plain = try TextRun.draw("abbbb", ["size": .number(40)])
        let marked = try TextRun.draw(
            "<span color='#ff0000'>a</span><b>bbbb</b>", ["size": .number(40), "markup": .bool(true)])
        let (red, green) = (GrayPicture(marked, channel: 0), GrayPicture(marked, channel: 1))
        // The red letter lacks in the other channel.
        let letter = GrayPicture(try TextRun.draw("a", ["size": .number(40)]), channel: 3)
        #expect(abs((red.sum - green.sum) / letter.sum - 1) < 0.02)
        #expect(marked.width > plain.width, "bold is wider")
        // Without markup the marks are letters.
        #expect(try TextRun.draw("<b>bbbb</b>", ["size": .number(40)]).width > plain.width + 50)
    }
}
