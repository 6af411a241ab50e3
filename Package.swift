// swift-tools-version: 6.2
import PackageDescription

// One line a module; the arrows are in docs/architecture.md and a test compares them with the imports.
let strict: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")]

let package = Package(
    name: "Patchbay",
    products: [
        .library(name: "Patchbay", targets: ["Patchbay"]),
        .executable(name: "patchbay", targets: ["PatchbayCLI"]),
    ],
    targets: [
        // C libraries from Debian packages: module maps and static inline shims, nothing else.
        .systemLibrary(name: "CLua", pkgConfig: "lua5.4", providers: [.apt(["liblua5.4-dev"])]),
        .systemLibrary(name: "CFFmpeg", pkgConfig: "libavdevice", providers: [.apt(["libavdevice-dev"])]),
        .systemLibrary(name: "CLLVM", pkgConfig: "patchbay-llvm", providers: [.apt(["llvm-19-dev"])]),
        // No pkgConfig: sdl2.pc has a flag that SwiftPM refuses with a warning, and the default paths suffice.
        .systemLibrary(name: "CSDL", providers: [.apt(["libsdl2-dev"])]),

        .target(name: "PatchMedia", swiftSettings: strict),
        .target(name: "PatchKernel", dependencies: ["CLLVM", "PatchMedia"], swiftSettings: strict),
        .target(name: "PatchGraph", dependencies: ["PatchKernel", "PatchMedia"], swiftSettings: strict),
        .target(
            name: "PatchFilters", dependencies: ["PatchGraph", "PatchKernel", "PatchMedia"], exclude: ["Library"],
            swiftSettings: strict, plugins: ["EmbedFilters"]),
        .target(name: "PatchFFmpeg", dependencies: ["CFFmpeg", "PatchGraph", "PatchMedia"], swiftSettings: strict),
        .target(name: "PatchDisplay", dependencies: ["CSDL", "PatchGraph", "PatchMedia"], swiftSettings: strict),
        .target(
            name: "PatchLua", dependencies: ["CLua", "PatchFilters", "PatchGraph", "PatchKernel", "PatchMedia"],
            swiftSettings: strict),
        .target(
            name: "Patchbay",
            dependencies: [
                "PatchMedia", "PatchKernel", "PatchGraph", "PatchFilters", "PatchFFmpeg", "PatchDisplay", "PatchLua",
            ],
            swiftSettings: strict),
        .executableTarget(name: "PatchbayCLI", dependencies: ["Patchbay"], swiftSettings: strict),
        .executableTarget(name: "PatchbayExample", dependencies: ["Patchbay"], swiftSettings: strict),

        // Makes Sources/PatchFilters/Library/**.lua part of PatchFilters.
        .plugin(name: "EmbedFilters", capability: .buildTool(), dependencies: ["EmbedFiltersTool"]),
        .executableTarget(name: "EmbedFiltersTool", path: "Plugins/EmbedFiltersTool"),
        // Measurements that scripts and tests run as programs of their own.
        .target(name: "CAllocationCounter", path: "Benchmarks/CAllocationCounter"),
        .executableTarget(
            name: "EngineBench", dependencies: ["CAllocationCounter", "PatchGraph", "PatchKernel", "PatchMedia"],
            path: "Benchmarks/EngineBench", swiftSettings: strict),

        .executableTarget(
            name: "PatchBench", dependencies: ["PatchGraph", "PatchKernel", "PatchMedia"],
            path: "Benchmarks/PatchBench", swiftSettings: strict),

        // Helpers that all tests may use: clips, external programs, servers, screens, ffprobe.
        .target(name: "PatchTesting", dependencies: ["PatchMedia"], path: "Tests/PatchTesting", swiftSettings: strict),
        .testTarget(
            name: "PatchbayTests", dependencies: ["Patchbay", "PatchbayExample", "PatchTesting"],
            swiftSettings: strict),
        .testTarget(name: "PatchMediaTests", dependencies: ["PatchMedia"], swiftSettings: strict),
        .testTarget(
            name: "PatchGraphTests", dependencies: ["PatchGraph", "PatchKernel", "PatchMedia", "PatchTesting"],
            swiftSettings: strict),
        .testTarget(name: "PatchTestingTests", dependencies: ["PatchTesting"], swiftSettings: strict),
        .testTarget(
            name: "PatchbayEndToEndTests", dependencies: ["PatchMedia", "PatchTesting"], swiftSettings: strict),
        .testTarget(name: "PatchbayStructureTests", dependencies: ["PatchTesting"], swiftSettings: strict),
        .testTarget(
            name: "PatchLuaTests", dependencies: ["PatchLua", "PatchGraph", "PatchKernel", "PatchMedia", "PatchFilters"],
        .executableTarget(
            name: "KernelBench", dependencies: ["PatchKernel", "PatchMedia"], path: "Benchmarks/KernelBench",
            swiftSettings: strict),
        .testTarget(name: "PatchKernelTests", dependencies: ["PatchKernel", "PatchMedia"], swiftSettings: strict),
        .testTarget(
            name: "PatchFFmpegTests", dependencies: ["PatchFFmpeg", "PatchGraph", "PatchMedia", "PatchTesting"],
            swiftSettings: strict),
        .testTarget(
            name: "PatchDisplayTests", dependencies: ["PatchDisplay", "PatchGraph", "PatchMedia", "PatchTesting"],
            swiftSettings: strict),
        .testTarget(
            name: "PatchFiltersTests", dependencies: ["PatchFilters", "PatchGraph", "PatchMedia", "PatchTesting"],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
