import PatchMedia

public enum Light: String, Hashable, Sendable { case encoded, linear }
public struct Kernel: Hashable, Sendable {}
