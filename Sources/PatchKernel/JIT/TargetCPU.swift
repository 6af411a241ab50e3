internal import CLLVM

/// The processor that code is made for, and what the emitter must know about it.
struct TargetCPU: Hashable, Sendable {
    var name: String
    /// LLVM's target triple; nil is this machine's. Another one only makes code for a test to look at or to emulate.
    var triple: String?
    /// LLVM's feature string: `+avx2,-avx512f,…`.
    var features: String
    /// Instructions of x86 may be asked for by name.
    var isX86: Bool
    /// Floats in one machine vector that code is laid out for.
    var lanes: Int
    var hasFMA: Bool
    var hasHalf: Bool
    var hasRounding: Bool
    /// SSSE3's pmulhrsw.
    var hasRoundedProduct = false
    /// AVX-512's scalef and estimate of 1/√x, in whole 512-bit vectors.
    var hasScaling = false
    /// AVX's rsqrtps, for passes of whole 256-bit vectors.
    var hasRootEstimate = false
    /// Lanes of a whole vector can be picked by number: AVX2's and AVX-512's vpermps.
    var hasLookup = false
    /// Machine vectors that one value spans, so that independent chains fill the pipes; nil lets the emitter choose by
    /// the pass (see docs/decisions/kernel-vectors.md).
    var interleave: Int?

    init(name: String, features: String, vectorBits: Int? = nil, triple: String? = nil) {
        self.name = name
        self.features = features
        self.triple = triple
        #if arch(x86_64)
        isX86 = triple?.hasPrefix("x86_64") ?? true
        #else
        isX86 = triple?.hasPrefix("x86_64") ?? false
        #endif
        guard isX86 else {
            // NEON as every 64-bit ARM has it.
            lanes = 4
            hasFMA = true
            hasHalf = true
            hasRounding = true
            return
        }
        let set = Set(features.split(separator: ","))
        let isV3 = name == "x86-64-v3" || name == "x86-64-v4"
        let hasAVX2 = set.contains("+avx2") || isV3
        let hasAVX512 = set.contains("+avx512bw") && set.contains("+avx512vl") || name == "x86-64-v4"
        let widest = hasAVX512 ? 512 : hasAVX2 ? 256 : 128
        // Instructions asked for by name have no wider form that LLVM could split.
        lanes = min(vectorBits ?? widest, widest) / 32
        hasScaling = hasAVX512 && lanes == 16
        hasRootEstimate = hasAVX2 && lanes == 8
        hasLookup = hasAVX2 && lanes == 8 || hasScaling
        hasFMA = set.contains("+fma") || isV3
        hasHalf = set.contains("+f16c") || isV3
        hasRounding = set.contains("+sse4.1") || hasAVX2
        hasRoundedProduct = set.contains("+ssse3") || isV3 || name == "x86-64-v2"
    }

    /// What x86-64's levels ask for beyond the one before, of what code is made with here.
    private static let levels: [(name: String, features: [String])] = [
        ("x86-64-v2", ["+ssse3", "+sse4.1", "+sse4.2", "+popcnt"]),
        ("x86-64-v3", ["+avx2", "+fma", "+f16c", "+bmi2"]),
        ("x86-64-v4", ["+avx512f", "+avx512bw", "+avx512cd", "+avx512dq", "+avx512vl"]),
    ]

    /// Whether this machine runs code for a level of x86-64. Other names are the caller's to judge.
    static func hostRuns(_ name: String) -> Bool {
        guard let level = levels.firstIndex(where: { $0.name == name }) else { return true }
        let set = Set(host.features.split(separator: ",").map(String.init))
        return levels[...level].allSatisfy { set.isSuperset(of: $0.features) }
    }

    /// Tells LLVM what a function is compiled for.
    func mark(_ function: LLVMValueRef, _ types: LLVMTypes) {
        for attribute in ["nounwind", "mustprogress", "willreturn"] {
            let kind = LLVMGetEnumAttributeKindForName(attribute, attribute.utf8.count)
            LLVMAddAttributeAtIndex(
                function, LLVMAttributeIndex(bitPattern: -1), LLVMCreateEnumAttribute(types.context, kind, 0))
        }
        for (key, value) in [
            ("target-cpu", name), ("target-features", features),
            ("prefer-vector-width", "\(lanes * 32)"), ("min-legal-vector-width", "\(lanes * 32)"),
            // A frame pointer from the start: without it, values that go through the stack are not aligned to their
            // size there, so that each of those reads and writes touches two cache lines.
            ("frame-pointer", "all"), ("stackrealign", "1"),
        ] where !value.isEmpty {
            LLVMAddAttributeAtIndex(
                function, LLVMAttributeIndex(bitPattern: -1),
                LLVMCreateStringAttribute(
                    types.context, key, UInt32(key.utf8.count), value, UInt32(value.utf8.count)))
        }
    }

    static let host: TargetCPU = {
        let name = LLVMGetHostCPUName()
        let features = LLVMGetHostCPUFeatures()
        defer {
            LLVMDisposeMessage(name)
            LLVMDisposeMessage(features)
        }
        return TargetCPU(
            name: name.map { String(cString: $0) } ?? "generic",
            features: features.map { String(cString: $0) } ?? "")
    }()
}
