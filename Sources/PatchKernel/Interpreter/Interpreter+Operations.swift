import Glibc

extension Interpreter {
    func evaluate(_ builtin: Builtin, _ index: Int, _ x: Int, _ y: Int, _ registers: inout [UInt32]) {
        let at = offsets[index]
        func store(_ a: Float, _ b: Float) {
            registers[at] = a.bitPattern
            registers[at + 1] = b.bitPattern
        }
        switch builtin {
        case .position:
            let position = position(x, y)
            store(position.x, position.y)
        case .uv:
            let position = position(x, y)
            store(position.x / Float(output.pictureWidth), position.y / Float(output.pictureHeight))
        case .size: store(Float(output.pictureWidth), Float(output.pictureHeight))
        case .inputSize(let input) where description.planes != .all:
            store(Float(readers[input].image.pictureWidth), Float(readers[input].image.pictureHeight))
        case .inputSize(let input): store(Float(readers[input].orientedWidth), Float(readers[input].orientedHeight))
        case .time: registers[at] = Float(context.time).bitPattern
        case .frame: registers[at] = UInt32(truncatingIfNeeded: context.frame)
        case .hash:
            let planes = description.planes
            let words = [
                UInt32(x << planes.log2Width), UInt32(y << planes.log2Height),
                UInt32(truncatingIfNeeded: context.frame),
            ]
            registers[at] = Self.hash(words).bitPattern
        }
    }

    /// Where sample (x, y) of the output sits among the whole picture's pixels.
    private func position(_ x: Int, _ y: Int) -> (x: Float, y: Float) {
        func place(_ at: Int, _ log2: Int, _ isCosited: Bool) -> Float {
            log2 == 0 ? Float(at) + 0.5 : Float(2 * at) + (isCosited ? 0.5 : 1)
        }
        let siting = description.output.color.siting
        return (
            place(x, description.planes.log2Width, siting.isCositedHorizontally),
            place(y, description.planes.log2Height, siting.isCositedVertically)
        )
    }

    static func hash(_ words: [UInt32]) -> Float {
        var state = hashSeed
        for word in words {
            state ^= word
            for (shift, factor) in hashSteps {
                state ^= state >> UInt32(shift)
                state = state &* factor
            }
            state ^= state >> 15
        }
        return Float(state >> 8) * 0x1p-24
    }

    func evaluate(_ op: Operation, _ node: Node, _ index: Int, _ registers: inout [UInt32]) {
        let kernel = description.kernel
        let types = node.arguments.map { kernel.nodes[$0].type }
        let at = offsets[index]
        func words(_ argument: Int) -> [UInt32] {
            let start = offsets[node.arguments[argument]]
            return Array(registers[start..<start + types[argument].componentCount])
        }
        func floats(_ argument: Int) -> [Float] { words(argument).map { Float(bitPattern: $0) } }
        func store(_ values: [Float]) {
            for (i, value) in values.enumerated() { registers[at + i] = value.bitPattern }
        }
        func dot(_ a: [Float], _ b: [Float]) -> Float { zip(a, b).reduce(0) { $0 + $1.0 * $1.1 } }
        switch op {
        case .length: return store([dot(floats(0), floats(0)).squareRoot()])
        case .distance:
            let difference = zip(floats(0), floats(1)).map { $0 - $1 }
            return store([dot(difference, difference).squareRoot()])
        case .dot: return store([dot(floats(0), floats(1))])
        case .cross:
            let (a, b) = (floats(0), floats(1))
            return store([
                a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0],
            ])
        case .normalize:
            let a = floats(0)
            let length = dot(a, a).squareRoot()
            return store(a.map { $0 / length })
        case .reflect:
            let (i, n) = (floats(0), floats(1))
            let d = 2 * dot(i, n)
            return store(zip(i, n).map { $0 - d * $1 })
        case .any: registers[at] = floats(0).contains { $0 != 0 } ? 1 : 0
        case .all: registers[at] = floats(0).allSatisfy { $0 != 0 } ? 1 : 0
        case .transpose:
            let a = floats(0)
            let order = types[0].order
            store((0..<order * order).map { a[$0 % order * order + $0 / order] })
        case .hash: store([Self.hash(node.arguments.indices.map { words($0)[0] })])
        case .mul where types[0].isMatrix || types[1].isMatrix:
            store(multiply(floats(0), types[0], floats(1), types[1]))
        case .toInt:
            let word = words(0)[0]
            registers[at] = types[0] == .bool ? word : UInt32(bitPattern: Int32(clampToInt(Float(bitPattern: word))))
        case .toFloat:
            let word = words(0)[0]
            store([types[0] == .bool ? Float(word) : Float(Int32(bitPattern: word))])
        case .toBool: registers[at] = types[0] == .int ? (words(0)[0] != 0 ? 1 : 0) : floats(0)[0] != 0 ? 1 : 0
        case .and: registers[at] = words(0)[0] & words(1)[0]
        case .or: registers[at] = words(0)[0] | words(1)[0]
        case .not: registers[at] = 1 - words(0)[0]
        case .eq where types[0] == .bool: registers[at] = words(0)[0] == words(1)[0] ? 1 : 0
        case .ne where types[0] == .bool: registers[at] = words(0)[0] != words(1)[0] ? 1 : 0
        default:
            let operands = node.arguments.indices.map { words($0) }
            let isInt = types.allSatisfy { $0 == .int }
            for i in 0..<node.type.componentCount {
                let parts = operands.map { $0.count == 1 ? $0[0] : $0[i] }
                if isInt {
                    registers[at + i] = Self.intComponent(op, parts.map { Int32(bitPattern: $0) })
                } else if Operation.comparisons.contains(op) {
                    let holds = Self.compare(op, Float(bitPattern: parts[0]), Float(bitPattern: parts[1]))
                    registers[at + i] = node.type == .bool ? (holds ? 1 : 0) : Float(holds ? 1 : 0).bitPattern
                } else {
                    registers[at + i] = Self.component(op, parts.map { Float(bitPattern: $0) }).bitPattern
                }
            }
        }
    }

    private func multiply(_ a: [Float], _ aType: ValueType, _ b: [Float], _ bType: ValueType) -> [Float] {
        if a.count == 1 { return b.map { a[0] * $0 } }
        if b.count == 1 { return a.map { $0 * b[0] } }
        let order = aType.order
        func sum(_ term: (Int) -> Float) -> Float { (0..<order).reduce(0) { $0 + term($1) } }
        if aType.isVector { return (0..<order).map { c in sum { a[$0] * b[c * order + $0] } } }
        if bType.isVector { return (0..<order).map { r in sum { a[$0 * order + r] * b[$0] } } }
        return (0..<order * order).map { cell in
            sum { a[$0 * order + cell % order] * b[cell / order * order + $0] }
        }
    }

    static func compare(_ op: Operation, _ a: Float, _ b: Float) -> Bool {
        switch op {
        case .lt: a < b
        case .le: a <= b
        case .gt: a > b
        case .ge: a >= b
        case .eq: a == b
        default: a != b
        }
    }

    static func component(_ op: Operation, _ a: [Float]) -> Float {
        let x = a[0]
        func double(_ function: (Double) -> Double, _ value: Float) -> Float { Float(function(Double(value))) }
        func minimum(_ a: Float, _ b: Float) -> Float { a < b ? a : b }
        func maximum(_ a: Float, _ b: Float) -> Float { a > b ? a : b }
        switch op {
        case .add: return x + a[1]
        case .sub: return x - a[1]
        case .mul: return x * a[1]
        case .div: return x / a[1]
        case .mod: return x - a[1] * (x / a[1]).rounded(.down)
        case .neg: return -x
        case .abs: return Swift.abs(x)
        case .sign: return x > 0 ? 1 : x < 0 ? -1 : 0
        case .floor: return x.rounded(.down)
        case .ceil: return x.rounded(.up)
        case .trunc: return x.rounded(.towardZero)
        case .fract: return x - x.rounded(.down)
        case .round: return x.rounded(.toNearestOrEven)
        case .min: return minimum(x, a[1])
        case .max: return maximum(x, a[1])
        case .clamp: return minimum(maximum(x, a[1]), a[2])
        case .mix: return x + (a[1] - x) * a[2]
        case .step: return a[1] < x ? 0 : 1
        case .smoothstep:
            let t = minimum(maximum((a[2] - x) / (a[1] - x), 0), 1)
            return t * t * (3 - 2 * t)
        case .sqrt: return maximum(x, 0).squareRoot()
        case .fastSqrt: return maximum(x, 1e-30).squareRoot()
        case .inversesqrt: return 1 / x.squareRoot()
        case .pow:
            if a[1] == 1 { return maximum(x, 0) }
            return x > 0 ? Float(Glibc.pow(Double(max(x, 0x1p-126)), Double(a[1]))) : a[1] == 0 ? 1 : 0
        case .exp: return double(Glibc.exp, x)
        case .exp2: return double(Glibc.exp2, x)
        case .log: return double(Glibc.log, maximum(x, 0x1p-126))
        case .log2: return double(Glibc.log2, maximum(x, 0x1p-126))
        case .radians: return x * (Float.pi / 180)
        case .degrees: return x * (180 / Float.pi)
        case .sin: return double(Glibc.sin, minimum(maximum(x, -1e6), 1e6))
        case .cos: return double(Glibc.cos, minimum(maximum(x, -1e6), 1e6))
        case .tan: return double(Glibc.tan, minimum(maximum(x, -1e6), 1e6))
        case .asin: return double(Glibc.asin, minimum(maximum(x, -1), 1))
        case .acos: return double(Glibc.acos, minimum(maximum(x, -1), 1))
        case .atan: return a.count == 1 ? double(Glibc.atan, x) : Float(Glibc.atan2(Double(x), Double(a[1])))
        default: preconditionFailure("\(op) is not componentwise")
        }
    }

    static func intComponent(_ op: Operation, _ a: [Int32]) -> UInt32 {
        let x = a[0]
        let y = a.count > 1 ? a[1] : 0
        let result: Int32
        switch op {
        case .add: result = x &+ y
        case .sub: result = x &- y
        case .mul: result = x &* y
        case .div: result = y == 0 ? 0 : y == -1 ? 0 &- x : x / y
        case .mod:
            if y == 0 || y == -1 {
                result = 0
            } else {
                let rest = x % y
                result = rest != 0 && (rest ^ y) < 0 ? rest &+ y : rest
            }
        case .neg: result = 0 &- x
        case .abs: result = x < 0 ? 0 &- x : x
        case .sign: result = x.signum()
        case .min: result = Swift.min(x, y)
        case .max: result = Swift.max(x, y)
        case .clamp: result = Swift.min(Swift.max(x, y), a[2])
        case .lt: result = x < y ? 1 : 0
        case .le: result = x <= y ? 1 : 0
        case .gt: result = x > y ? 1 : 0
        case .ge: result = x >= y ? 1 : 0
        case .eq: result = x == y ? 1 : 0
        default: result = x != y ? 1 : 0
        }
        return UInt32(bitPattern: result)
    }
}
