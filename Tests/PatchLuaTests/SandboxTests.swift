import PatchLua
import PatchMedia
import Testing

/// What a hostile or mistaken script may try: each ends in an error with its line, within the second.
@Suite(.serialized) struct SandboxTests {
    struct Attack: Sendable, CustomTestStringConvertible {
        var name: String
        var text: String
        var code: PatchError.Code = .budget
        var line = 1
        var testDescription: String { name }
    }

    static let attacks: [Attack] = [
        Attack(name: "endless loop", text: "\nwhile true do end", line: 2),
        Attack(name: "endless loop in pcall", text: "while true do pcall(function() while true do end end) end"),
        Attack(name: "recursive pcall", text: "local function f() pcall(f) return f() end\nf()", line: 1),
        Attack(
            name: "xpcall with an endless handler",
            text: "while true do xpcall(function() error('x') end, function() while true do end end) end"),
        Attack(name: "memory bomb", text: "local t = {}\nfor i = 1, 1e9 do t[i] = {i, tostring(i)} end", line: 2),
        Attack(
            name: "memory bomb in pcall",
            text: "local t = {} while true do pcall(function() t[#t+1] = ('x'):rep(1e6) end) end"),
        Attack(name: "doubling text", text: "local s = 'x' while true do s = s .. s end"),
        Attack(name: "catastrophic pattern", text: #"("a"):rep(40):find(("a*"):rep(20).."b")"#),
        Attack(name: "catastrophic gsub", text: #"("a"):rep(400):gsub(("a-"):rep(30).."b", "")"#),
        Attack(name: "catastrophic gmatch", text: #"for x in ("a"):rep(400):gmatch(("a?"):rep(90).."b") do end"#),
        Attack(
            name: "quadratic plain find",
            text: #"local s = ("a"):rep(1e6) for i=1,1e6 do s:find(("a"):rep(5e5).."b", 1, true) end"#),
        Attack(name: "string.rep of gigabytes", text: "local s = ('x'):rep(4e9)", code: .script),
        Attack(name: "string.rep of nothing", text: "local s = (''):rep(1e18) while true do end"),
        Attack(
            name: "table.concat of gigabytes",
            text: "local t = {} for i=1,1000 do t[i]=('x'):rep(1e5) end local s = table.concat(t, ('y'):rep(1e6))"),
        Attack(
            name: "endless coroutine",
            text: "local c = coroutine.wrap(function() while true do end end)\nwhile true do pcall(c) end", line: 1),
        Attack(
            name: "endless coroutines", text: "while true do\ncoroutine.wrap(function() while true do end end)() end",
            line: 2),
        Attack(
            name: "coroutines that yield for ever",
            text: "local c = coroutine.wrap(function() while true do coroutine.yield() end end)\nwhile true do c() end",
            line: 0),
        Attack(
            name: "endless close",
            text:
                "pcall(coroutine.wrap(function() local x <close> = setmetatable({}, {__close = function() while true do end end}) while true do end end))"
        ),
        Attack(
            name: "endless __index",
            text: "local t = setmetatable({}, {__index = function(t, k) return t[k .. 'x'] end}) return t.a",
            code: .script),
        Attack(
            name: "__index that loops",
            text: "local t = setmetatable({}, {__index = function(t, k) while true do end end}) return t.a"),
        Attack(
            name: "__index in a ring",
            text: "local a, b = {}, {}\nsetmetatable(a, {__index = b}) setmetatable(b, {__index = a}) return a.x",
            code: .script, line: 2),
        Attack(
            name: "table.insert below a far border",
            text: "local t = {} for i = 0, 61 do t[1 << i] = 1 end\ntable.insert(t, 1, 1) while true do end", line: 2),
        Attack(name: "table.move of everything", text: "table.move({}, 1, 1 << 60, 2)"),
        Attack(name: "sort that compares for ever", text: "table.sort({3,2,1}, function() while true do end end)"),
        Attack(
            name: "__len tricks", text: "table.sort(setmetatable({}, {__len = function() return 1 << 30 end}))",
            code: .script),
        Attack(name: "deep recursion", text: "local function f() return 1 + f() end\nf()", line: 1),
        Attack(
            name: "deep recursion through C", text: "local function f(x) return (x:gsub('.', f)) end\nf('a')",
            code: .script, line: 1),
        Attack(name: "bytecode", text: "local f, e = load('\\27Lua')\nerror(e)", code: .script, line: 1),
        Attack(name: "string.dump", text: "string.dump(function() end)", code: .script),
        Attack(name: "__gc", text: "setmetatable({}, {__gc = function() while true do end end})", code: .script),
        Attack(
            name: "error with evil __tostring",
            text: "error(setmetatable({}, {__tostring = function() while true do end end}))", code: .script, line: 0),
        Attack(
            name: "tostring that loops",
            text: "tostring(setmetatable({}, {__tostring = function() while true do end end}))"),
        Attack(name: "huge utf8", text: "local s = ('é'):rep(1e7) while true do utf8.len(s) end"),
        Attack(name: "unpack everything", text: "table.unpack({}, 1, 1e9)", code: .script),
        Attack(
            name: "long source", text: "local s = (' '):rep(3e6)\nload(s) while true do load(('x=1 '):rep(1e5)) end",
            line: 2),
        Attack(name: "io", text: "io.open('/etc/passwd')", code: .script),
        Attack(name: "os.execute", text: "os.execute('true')", code: .script),
        Attack(name: "debug", text: "debug.getregistry()", code: .script),
        Attack(name: "package", text: "package.loadlib('x', 'y')", code: .script),
        Attack(name: "nested brackets", text: "return " + String(repeating: "(", count: 5000), code: .script, line: 0),
    ]

    @Test(arguments: attacks) func attackEnds(attack: Attack) throws {
        var limits = ScriptLimits()
        limits.loading = 0.3
        let begin = monotonicNanoseconds()
        let error = #expect(throws: PatchError.self) {
            _ = try LuaSandbox.evaluate(attack.text, limits: limits)
        }
        let seconds = Double(monotonicNanoseconds() - begin) / 1e9
        // 0.3 s of budget; the rest is room for a busy machine.
        #expect(seconds < 1, "\(seconds) s")
        #expect(error?.code == attack.code, "\(error.map(\.description) ?? "")")
        if attack.line > 0 {
            #expect(
                error?.location == SourceLocation(file: "test.lua", line: attack.line),
                "\(error.map(\.description) ?? "")")
        }
    }

    /// Lua's own documentation gives these results.
    @Test(arguments: [
        (#"return ("hello world"):find("wor")"#, "7"),
        (#"return ("hello world"):match("(%w+) %w+")"#, "hello"),
        (#"return ("hello world"):gsub("o", "0")"#, "hell0 w0rld"),
        (#"return (("hello world"):gsub("(%w+)", "<%1>"))"#, "<hello> <world>"),
        (#"return (("abc"):gsub("%w", "%0%0"))"#, "aabbcc"),
        (#"return (("$name is $age"):gsub("%$(%w+)", {name = "Lua", age = 5}))"#, "Lua is 5"),
        (#"return (("x = f(a(b)c)"):match("%b()"))"#, "(a(b)c)"),
        (#"return (("THE (quick) fox"):find("%((%a+)%)"))"#, "5"),
        (
            #"local t = {} for k, v in ("a=1, b=2"):gmatch("(%w+)=(%w+)") do t[#t+1] = k..v end return table.concat(t, "|")"#,
            "a1|b2"
        ),
        (#"return (("THE (quick) fox"):gsub("%f[%a]%a+", "w"))"#, "w (w) w"),
        (#"return ("[[x]]"):match("%[%[(.-)%]%]")"#, "x"),
        (#"return ("aXb"):match("()X()")"#, "2"),
        (#"return ("'a' \"b\""):match("(['\"])(.-)%1")"#, "'"),
        (#"return (("abc"):gsub("", "-"))"#, "-a-b-c-"),
        (#"return (("  trim  "):match("^%s*(.-)%s*$"))"#, "trim"),
        (#"return ("a.b"):find(".", 1, true)"#, "2"),
        (#"return ("abc"):find("b", -1) == nil and 1 or 0"#, "1"),
        (#"return ("x]y"):match("[]]")"#, "]"),
        (#"return ("a-z"):match("[a%-z]+")"#, "a-z"),
        (#"return ("äb"):match("[^a]+") == "äb" and 1 or 0"#, "1"),
        (#"return select('#', ("k=v"):match("(%w)=(%w)"))"#, "2"),
        (
            #"local t = {3,1,2} table.sort(t) table.insert(t, 1, 0) table.insert(t, 9) table.remove(t, 2) return table.concat(t, ",")"#,
            "0,2,3,9"
        ),
        (#"return table.concat(table.move({1,2,3}, 1, 3, 2), ",")"#, "1,1,2,3"),
        (#"return ("ab"):rep(3, "-")"#, "ab-ab-ab"),
        (
            #"local w = coroutine.wrap(function(a) local b = coroutine.yield(a + 1) return b * 2 end) w(1) return w(21)"#,
            "42"
        ),
        (#"return load("return 1 + 1")()"#, "2"),
        (#"return string.format("%5.2f|%s", 1.5, "x")"#, " 1.50|x"),
    ])
    func libraryAsDocumented(text: String, result: String) throws {
        #expect(try LuaSandbox.evaluate(text) == result)
    }

    @Test(arguments: [
        ("local x = \n= 3", "test.lua:2: syntax error: unexpected symbol near '='"),
        ("x = 1", "test.lua:1: 'x' is not a local variable; write `local x = …` where it begins"),
        ("\nprinr()", "test.lua:2: unknown name 'prinr'"),
        ("local n\nn.x = 1", "test.lua:2: attempt to index a nil value (local 'n')"),
        ("tostrin(1)", "test.lua:1: unknown name 'tostrin'; did you mean 'tostring'?"),
        ("math = 1", "test.lua:1: 'math' is a word of the graph language and cannot be changed"),
    ])
    func errorsSayWhatAndWhere(text: String, begins: String) {
        let error = #expect(throws: PatchError.self) { _ = try LuaSandbox.evaluate(text) }
        #expect(error?.description.hasPrefix(begins) == true, "\(error.map(\.description) ?? "")")
    }

    @Test func caughtErrorsAreTexts() throws {
        let text = try LuaSandbox.evaluate("local ok, e = pcall(function() undefinedName() end) return e")
        #expect(text.hasPrefix("test.lua:1: unknown name 'undefinedName'"))
    }
}
