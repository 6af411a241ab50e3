/// Why a test could not do its work: a missing clip, a program that failed or hung. Its text is the test's failure.
///
/// Thread-safety: a value.
public struct TestProblem: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}
