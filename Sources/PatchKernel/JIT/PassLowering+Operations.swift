extension PassLowering {
    /// The operation on components; scalars count for every component.
    mutating func lower(_ operation: Operation, _ node: Node) -> [S] {
        let a = lowered[node.arguments[0]]
        let b = node.arguments.count > 1 ? lowered[node.arguments[1]] : []
        let types = node.arguments.map { description.kernel.nodes[$0].type }
        switch operation {
        case .length: return [p.sqrt(dot(a, a))]
        case .distance:
            let difference = a.indices.map { p.sub(a[$0], b[$0]) }
            return [p.sqrt(dot(difference, difference))]
        case .dot: return [dot(a, b)]
        case .cross:
            return [(1, 2), (2, 0), (0, 1)].map { i, j in
                p.sub(p.mul(a[i], b[j]), p.mul(a[j], b[i]))
            }
        case .normalize:
            let one = p.float(Float(1))
            // By the exact root, whose 0 makes infinity.
            let scale = p.div(one, p.unary(.sqrt, dot(a, a)))
            return a.map { p.mul($0, scale) }
        case .reflect:
            let two = p.float(Float(2))
            let d = p.mul(two, dot(a, b))
            return a.indices.map { p.sub(a[$0], p.mul(d, b[$0])) }
        case .any, .all:
            var result = p.toBool(a[0])
            for component in a.dropFirst() {
                let c = p.toBool(component)
                result = operation == .any ? p.or(result, c) : p.and(result, c)
            }
            return [result]
        case .transpose:
            let order = types[0].order
            return (0..<order * order).map { a[$0 % order * order + $0 / order] }
        case .hash:
            return [p.hash(node.arguments.map { hashable(lowered[$0][0]) })]
        case .mul where types[0].isMatrix || types[1].isMatrix:
            return multiply(a, types[0], b, types[1])
        default: break
        }
        let isBoolResult = node.type == .bool
        return (0..<node.type.componentCount).map { i in
            let x = a.count == 1 ? a[0] : a[i]
            let y = b.isEmpty ? nil : b.count == 1 ? b[0] : b[i]
            let z: S? =
                if node.arguments.count > 2 {
                    lowered[node.arguments[2]].count == 1
                        ? lowered[node.arguments[2]][0] : lowered[node.arguments[2]][i]
                } else {
                    nil
                }
            let value = component(operation, x, y ?? x, z ?? x, isUnary: y == nil)
            // A comparison of vectors is a vector of 0 and 1.
            return p.kind(value) == .bool && !isBoolResult ? p.toFloat(value) : value
        }
    }

    private mutating func hashable(_ s: S) -> S { p.kind(s) == .float ? p.floatBits(s) : s }

    mutating func dot(_ a: [S], _ b: [S]) -> S {
        // What is the same for a row is summed up for the row.
        func rate(_ i: Int) -> ScalarProgram.Rate { max(p.rate(a[i]), p.rate(b[i])) }
        let order = a.indices.filter { rate($0) != .pixel } + a.indices.filter { rate($0) == .pixel }
        var sum = p.mul(a[order[0]], b[order[0]])
        for i in order.dropFirst() { sum = p.fma(a[i], b[i], sum) }
        return sum
    }

    private mutating func multiply(_ a: [S], _ aType: ValueType, _ b: [S], _ bType: ValueType) -> [S] {
        if a.count == 1 { return b.map { p.mul(a[0], $0) } }
        if b.count == 1 { return a.map { p.mul($0, b[0]) } }
        let order = aType.order
        func column(_ matrix: [S], _ c: Int) -> [S] { Array(matrix[c * order..<(c + 1) * order]) }
        func row(_ matrix: [S], _ r: Int) -> [S] { (0..<order).map { matrix[$0 * order + r] } }
        if aType.isVector { return (0..<order).map { dot(a, column(b, $0)) } }
        if bType.isVector { return (0..<order).map { dot(row(a, $0), b) } }
        return (0..<order * order).map { dot(row(a, $0 % order), column(b, $0 / order)) }
    }

    private mutating func component(_ op: Operation, _ x: S, _ y: S, _ z: S, isUnary: Bool) -> S {
        if p.kind(x) == .int, op.takesInt || Operation.comparisons.contains(op) {
            return intComponent(op, x, y, z)
        }
        let zero = p.float(Float(0))
        let one = p.float(Float(1))
        switch op {
        case .add: return p.add(x, y)
        case .sub: return p.sub(x, y)
        case .mul: return p.mul(x, y)
        case .div: return p.div(x, y)
        case .mod: return p.sub(x, p.mul(y, p.floor(p.div(x, y))))
        case .neg: return p.neg(x)
        case .abs: return p.abs(x)
        case .sign:
            let positive = p.select(p.compare(.lessThan, zero, x), one, zero)
            let minusOne = p.float(Float(-1))
            return p.select(p.compare(.lessThan, x, zero), minusOne, positive)
        case .floor: return p.floor(x)
        case .ceil: return p.unary(.ceil, x)
        case .trunc: return p.unary(.trunc, x)
        case .fract: return p.sub(x, p.floor(x))
        case .round: return p.unary(.roundEven, x)
        case .min: return p.min(x, y)
        case .max: return p.max(x, y)
        case .clamp: return p.min(p.max(x, y), z)
        case .mix: return p.fma(z, p.sub(y, x), x)
        case .step: return p.select(p.compare(.lessThan, y, x), zero, one)
        case .smoothstep:
            let t = p.clamp(p.div(p.sub(z, x), p.sub(y, x)), 0, 1)
            let three = p.float(Float(3))
            let minusTwo = p.float(Float(-2))
            return p.mul(p.mul(t, t), p.fma(minusTwo, t, three))
        case .sqrt: return p.positiveSqrt(x)
        case .fastSqrt: return p.estimatedSqrt(x)
        case .inversesqrt: return p.div(one, p.unary(.sqrt, x))
        case .pow: return p.pow(x, y)
        case .exp: return p.exp(x)
        case .exp2: return p.exp2(x)
        case .log: return p.log(x)
        case .log2: return p.log2(x)
        case .radians: return p.mul(x, p.float(Float.pi / 180))
        case .degrees: return p.mul(x, p.float(180 / Float.pi))
        case .sin: return p.sinCos(x).sin
        case .cos: return p.sinCos(x).cos
        case .tan:
            let (sine, cosine) = p.sinCos(x)
            return p.div(sine, cosine)
        case .asin: return p.asin(x)
        case .acos: return p.acos(x)
        case .atan: return isUnary ? p.atan2(x, one) : p.atan2(x, y)
        case .lt: return p.compare(.lessThan, x, y)
        case .le: return p.compare(.lessEqual, x, y)
        case .gt: return p.compare(.lessThan, y, x)
        case .ge: return p.compare(.lessEqual, y, x)
        case .eq, .ne:
            let isEqual: S
            if p.kind(x) == .bool {
                isEqual = p.intBinary(.intEqual, p.toInt(x), p.toInt(y))
            } else {
                isEqual = p.compare(.equal, x, y)
            }
            return op == .eq ? isEqual : p.not(isEqual)
        case .and: return p.and(x, y)
        case .or: return p.or(x, y)
        case .not: return p.not(x)
        case .toInt: return p.toInt(x)
        case .toFloat: return p.toFloat(x)
        case .toBool: return p.toBool(x)
        case .length, .distance, .dot, .cross, .normalize, .reflect, .any, .all, .transpose, .hash:
            preconditionFailure("\(op) is not componentwise")
        }
    }

    private mutating func intComponent(_ op: Operation, _ x: S, _ y: S, _ z: S) -> S {
        let zero = p.int(0)
        switch op {
        case .add: return p.intBinary(.intAdd, x, y)
        case .sub: return p.intBinary(.intSub, x, y)
        case .mul: return p.intBinary(.intMul, x, y)
        case .div: return p.intBinary(.intDiv, x, y)
        case .mod:
            // Of the divisor's sign, as for floats; 0 for a divisor of 0.
            let quotient = p.intBinary(.intDiv, x, y)
            let rest = p.intBinary(.intSub, x, p.intBinary(.intMul, quotient, y))
            let isWrongSign = p.intBinary(.intLess, p.intBinary(.intXor, rest, y), zero)
            let isZero = p.intBinary(.intEqual, rest, zero)
            let fixed = p.select(
                p.and(isWrongSign, p.not(isZero)), p.intBinary(.intAdd, rest, y), rest)
            return p.select(p.intBinary(.intEqual, y, zero), zero, fixed)
        case .neg: return p.intBinary(.intSub, zero, x)
        case .abs: return p.intBinary(.intMax, x, p.intBinary(.intSub, zero, x))
        case .sign:
            let isPositive = p.toInt(p.intBinary(.intLess, zero, x))
            return p.intBinary(.intSub, isPositive, p.toInt(p.intBinary(.intLess, x, zero)))
        case .min: return p.intBinary(.intMin, x, y)
        case .max: return p.intBinary(.intMax, x, y)
        case .clamp: return p.intBinary(.intMin, p.intBinary(.intMax, x, y), z)
        case .lt: return p.intBinary(.intLess, x, y)
        case .le: return p.intBinary(.intLessEqual, x, y)
        case .gt: return p.intBinary(.intLess, y, x)
        case .ge: return p.intBinary(.intLessEqual, y, x)
        case .eq: return p.intBinary(.intEqual, x, y)
        default: return p.not(p.intBinary(.intEqual, x, y))
        }
    }
}
