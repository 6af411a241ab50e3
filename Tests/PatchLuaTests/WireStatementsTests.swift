import PatchLua
import Testing

/// Wires as statements.
@Suite struct WireStatementsTests {
    @Test(arguments: [
        ("cam >> view", "_ = cam >> view"),
        ("cam\n  >> look\n  >> view", "_ = cam\n  >> look\n  >> view"),
        ("local a = b\na >> c", "local a = b\n_ = a >> c"),
        ("a >> b c >> d", "_ = a >> b _ = c >> d"),
        ("camera { \"cam\", size = \"1x1\" } >> view", "_ = camera { \"cam\", size = \"1x1\" } >> view"),
        (
            "filter.invert{} >> require \"looks.warm\" { amount = 1 } >> v",
            "_ = filter.invert{} >> require \"looks.warm\" { amount = 1 } >> v"
        ),
        ("a.slots[1]:get(\")\") >> b", "_ = a.slots[1]:get(\")\") >> b"),
        ("{ fg, bg } >> blend.alpha{}", "; _ = { fg, bg } >> blend.alpha{}"),
        ("local over = blend.alpha{}\n{ fg, bg } >> over", "local over = blend.alpha{}\n; _ = { fg, bg } >> over"),
        ("foo()\n{ a, b } >> c", "foo()\n; _ = { a, b } >> c"),
        ("if on then cam >> a else cam >> b end", "if on then _ = cam >> a else _ = cam >> b end"),
        ("every(1, function() cam >> a end)", "every(1, function() _ = cam >> a end)"),
        ("local function f(x) x >> y end f(1)", "local function f(x) _ = x >> y end f(1)"),
        ("repeat a >> b until done c >> d", "repeat _ = a >> b until done _ = c >> d"),
        ("(a) >> b", "; _ = (a) >> b"),
    ])
    func aWireMayStandAlone(_ text: String, _ expected: String) {
        #expect(WireStatements.completed(text) == expected)
    }

    @Test(arguments: [
        "local x = a >> b", "x = 8 >> 2", "return a >> b", "f(a >> b)", "t = { a >> b, c >> d }", "x.y, z = a >> b, c",
        "-- a >> b", "--[[ a >> b\n]] x = 1", "--[==[\na >> b ]] c >> d\n]==]", "s = 'a >> b'", "s = [[\na >> b\n]]",
        "s = \"\\\" a >> b\"", "while a >> b do end", "if not a >> b then end", "for i = a >> 1, 3 do end",
        "x = 0x1p+4 >> 1",
        "x = a .. b >> c", "goto done ::done::", "x = f\n{ a = 1 }", "a.b = c", "", "(", "{ {", "a >", "\u{e9} >> b",
    ])
    func everythingElseStaysAsItIs(_ text: String) {
        #expect(WireStatements.completed(text) == text)
    }

    /// A hostile text takes no longer than its length allows.
    @Test func longTextsAreQuick() {
        for piece in ["a(", "a\n(b)", "{\n", "a >> b\n", "a{}\n{}", "[[", "--[==["] {
            let text = String(repeating: piece, count: 100_000)
            let time = ContinuousClock().measure { _ = WireStatements.completed(text) }
            #expect(time < .seconds(2), "\(piece): \(time)")
        }
    }
}
