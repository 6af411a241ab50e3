import Glibc

// The interpreter's functions are the C library's, in double precision: what the JIT's polynomials are held against.
func exp2Double(_ x: Double) -> Double { Glibc.exp2(x) }
func log2Double(_ x: Double) -> Double { Glibc.log2(x) }
