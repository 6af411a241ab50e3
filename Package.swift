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
            swiftSettings: strict),
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

        .executableTarget(
            name: "KernelBench", dependencies: ["PatchKernel", "PatchMedia"], path: "Benchmarks/KernelBench",
            swiftSettings: strict),
        .testTarget(
            name: "PatchKernelTests", dependencies: ["PatchKernel", "PatchMedia"], exclude: ["Fixtures"],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
