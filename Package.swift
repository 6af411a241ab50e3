// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")]

func names(_ list: String) -> [Target.Dependency] { list.split(separator: " ").map { .byName(name: String($0)) } }

/// A module in Sources. A test compares its imports with docs/architecture.md.
func module(_ name: String, _ uses: String, exclude: [String] = [], plugins: [Target.PluginUsage] = []) -> Target {
    .target(name: name, dependencies: names(uses), exclude: exclude, swiftSettings: strict, plugins: plugins)
}
func program(_ name: String, _ uses: String, path: String? = nil) -> Target {
    .executableTarget(name: name, dependencies: names(uses), path: path, swiftSettings: strict)
}
func tests(_ name: String, _ uses: String, exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: names(uses), exclude: exclude, swiftSettings: strict)
}

/// The test targets that this build has: all, or those that PATCHBAY_TESTS names, which builds in a fraction of the time:
/// PATCHBAY_TESTS=PatchKernelTests scripts/test --filter FormatTests
let chosenTests = Context.environment["PATCHBAY_TESTS"].map { Set($0.split(separator: " ").map { String($0) }) }

let package = Package(
    name: "Patchbay",
    products: [
        .library(name: "Patchbay", targets: ["Patchbay"]),
        .executable(name: "patchbay", targets: ["PatchbayCLI"]),
        .executable(name: "patchbay-guest", targets: ["patchbay-guest"]),
    ],
    targets: [
        // C libraries from Debian packages: module maps and static inline shims, nothing else.
        .systemLibrary(name: "CLua", pkgConfig: "lua5.4", providers: [.apt(["liblua5.4-dev"])]),
        .systemLibrary(name: "CFFmpeg", pkgConfig: "libavdevice", providers: [.apt(["libavdevice-dev"])]),
        .systemLibrary(name: "CLLVM", pkgConfig: "patchbay-llvm", providers: [.apt(["llvm-19-dev"])]),
        // No library behind these: what Swift's own module of the C library leaves out, and what Patchbay and patchbay-guest share.
        .systemLibrary(name: "CGlibc"),
        .systemLibrary(name: "CFrei0r"),
        .systemLibrary(name: "CPango", pkgConfig: "patchbay-pango", providers: [.apt(["libpango1.0-dev"])]),
        // No pkgConfig: sdl2.pc has a flag that SwiftPM refuses with a warning, and the default paths suffice.
        .systemLibrary(name: "CSDL", providers: [.apt(["libsdl2-dev"])]),

        .systemLibrary(name: "CSpeexDSP", pkgConfig: "speexdsp", providers: [.apt(["libspeexdsp-dev"])]),
        .systemLibrary(name: "CEBUR128", pkgConfig: "libebur128", providers: [.apt(["libebur128-dev"])]),
        .systemLibrary(name: "CMicrohttpd", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),

        module("PatchMedia", ""),
        module("PatchKernel", "CLLVM PatchMedia"),
        module("PatchGraph", "PatchKernel PatchMedia"),
        module("PatchFilters", "PatchGraph PatchKernel PatchMedia", exclude: ["Library"], plugins: ["EmbedFilters"]),
        module("PatchFFmpeg", "CFFmpeg PatchGraph PatchMedia"),
        module("PatchFrei0r", "CFrei0r PatchGraph PatchMedia"),
        module("PatchDisplay", "CSDL PatchGraph PatchMedia"),
        module("PatchSound", "CSpeexDSP CEBUR128 PatchGraph PatchMedia"),
        module("PatchText", "CPango PatchGraph PatchMedia"),
        module("PatchLua", "CLua PatchFilters PatchGraph PatchKernel PatchMedia"),
        module(
            "Patchbay",
            "PatchMedia PatchKernel PatchGraph PatchFilters PatchFFmpeg PatchFrei0r PatchDisplay PatchSound PatchText PatchLua"
        ),
        program("PatchbayCLI", "CGlibc CMicrohttpd Patchbay"),
        program("PatchbayExample", "Patchbay"),

        // Runs a frei0r plugin in a process of its own.
        .executableTarget(name: "patchbay-guest", path: "Sources/GuestHost", linkerSettings: [.linkedLibrary("dl")]),

        // Makes Sources/PatchFilters/Library/**.lua part of PatchFilters.
        .plugin(name: "EmbedFilters", capability: .buildTool(), dependencies: ["EmbedFiltersTool"]),
        program("EmbedFiltersTool", "", path: "Plugins/EmbedFiltersTool"),

        // Measurements that scripts and tests run as programs of their own.
        .target(name: "CAllocationCounter", path: "Benchmarks/CAllocationCounter"),
        program(
            "EngineBench", "CAllocationCounter PatchFilters PatchGraph PatchKernel PatchMedia",
            path: "Benchmarks/EngineBench"),
        program("KernelBench", "PatchKernel PatchMedia", path: "Benchmarks/KernelBench"),
        program(
            "PatchBench", "Patchbay PatchFilters PatchGraph PatchKernel PatchLua PatchMedia",
            path: "Benchmarks/PatchBench"),

        // Helpers that all tests may use: clips, external programs, servers, screens, ffprobe.
        .target(name: "PatchTesting", dependencies: ["PatchMedia"], path: "Tests/PatchTesting", swiftSettings: strict),
        tests("PatchTestingTests", "PatchTesting"),
        tests("PatchMediaTests", "PatchMedia"),
        tests("PatchKernelTests", "PatchKernel PatchMedia PatchTesting KernelBench", exclude: ["Fixtures"]),
        tests("PatchGraphTests", "PatchGraph PatchKernel PatchMedia PatchTesting EngineBench"),
        tests("PatchFiltersTests", "PatchFilters PatchGraph PatchMedia PatchTesting"),
        tests("PatchFFmpegTests", "PatchFFmpeg PatchGraph PatchMedia PatchTesting"),
        tests("PatchFrei0rTests", "PatchFrei0r PatchGraph PatchMedia PatchTesting", exclude: ["Plugins"]),
        tests("PatchDisplayTests", "PatchDisplay PatchGraph PatchMedia PatchTesting"),
        tests("PatchSoundTests", "PatchSound PatchFFmpeg PatchFilters PatchGraph PatchKernel PatchMedia PatchTesting"),
        tests("PatchTextTests", "PatchText PatchFilters PatchGraph PatchLua PatchMedia PatchTesting"),
        tests(
            "PatchLuaTests",
            "PatchLua PatchFFmpeg PatchSound PatchGraph PatchKernel PatchMedia PatchFilters PatchTesting",
            exclude: ["Fixtures"]),
        tests("PatchBenchTests", "PatchTesting PatchBench"),
        tests("PatchbayTests", "Patchbay PatchbayExample PatchTesting", exclude: ["Fixtures"]),
        tests("PatchbayStructureTests", "PatchTesting"),
        tests("PatchbayEndToEndTests", "PatchMedia PatchTesting PatchbayCLI", exclude: ["Fixtures"]),
    ].filter { !$0.isTest || chosenTests?.contains($0.name) ?? true },
    swiftLanguageModes: [.v6]
)
