import PatchLua
import Testing

/// `a >> b` as a statement; what is none stays untouched.
@Suite struct WireStatementsTests {
    @Test(arguments: [
        ("a >> b", "W=a >> b"),
        ("local x = a >> b c >> d", "local x = a >> b W=c >> d"),
        ("cam.video >> f{1, {2}} >> v\nx:y('z') >> w", "W=cam.video >> f{1, {2}} >> v\nW=x:y('z') >> w"),
        ("{ a, b } >> c", "W={ a, b } >> c"),
        ("f{}\n{ a, b } >> c", "f{}\nW={ a, b } >> c"),
        ("if x then a >> b else c >> d end e >> f", "if x then W=a >> b else W=c >> d end W=e >> f"),
        ("function f(a) a >> b end", "function f(a) W=a >> b end"),
        ("return a >> b", "return a >> b"),
        ("(a) >> b", "W=(a) >> b"),
        ("f (a) >> b", "W=f (a) >> b"),
        ("a.slots[1]:get(\")\") >> b", "W=a.slots[1]:get(\")\") >> b"),
        ("repeat a >> b until done c >> d", "repeat W=a >> b until done W=c >> d"),
        ("every(1, function() cam >> a end)", "every(1, function() W=cam >> a end)"),
        ("local x = 1 >> 2", "local x = 1 >> 2"),
        ("f(a >> b)", "f(a >> b)"),
        ("x = { a >> b, c >> d }", "x = { a >> b, c >> d }"),
        ("-- a >> b\nlocal s = 'a >> b' .. [[ a >> b ]]", "-- a >> b\nlocal s = 'a >> b' .. [[ a >> b ]]"),
        ("--[[ x\n]] a >> b", "--[[ x\n]] W=a >> b"),
        ("a >>\n  b -- c\n  >> d", "W=a >>\n  b -- c\n  >> d"),
        ("require \"m\" {} >> b", "W=require \"m\" {} >> b"),
        ("local n <const> = 3 a >> b", "local n <const> = 3 W=a >> b"),
        ("for i = 1, 2 do cams[i] >> mix end", "for i = 1, 2 do W=cams[i] >> mix end"),
    ])
    func rewrites(text: String, result: String) {
        #expect(WireSyntax.rewrite(text).replacing("__wire=", with: "W=") == result)
    }

    @Test func survivesAnyText() {
        var generator = SystemRandomNumberGenerator()
        let pieces = [
            "a", ">>", "{", "}", "(", ")", "'", "\"", "[[", "]]", "--", "\n", "end", "then", ".", ":", "\\", "é", "1e+",
            "::",
        ]
        for _ in 0..<2000 {
            let text = (0..<20).map { _ in pieces[Int.random(in: 0..<pieces.count, using: &generator)] }.joined(
                separator: " ")
            #expect(WireSyntax.rewrite(text).replacing("__wire=", with: "") == text)
        }
    }
}
