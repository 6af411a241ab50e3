/// What an installed guest is called and takes, for lists and messages.
///
/// Thread-safety: a value.
public struct GuestDescription: Sendable {
    public struct Parameter: Sendable {
        public var name: String
        /// What a value looks like: "0…1", "true or false", "a colour", "one of a, b".
        public var form: String
        public var defaultText: String
        public var summary: String
        /// May be changed while on air.
        public var isLive: Bool

        public init(name: String, form: String, defaultText: String, summary: String, isLive: Bool) {
            self.name = name
            self.form = form
            self.defaultText = defaultText
            self.summary = summary
            self.isLive = isLive
        }
    }

    public var name: String
    public var summary: String
    /// Number of pictures that it reads, as text: "1", "2", "1 or more".
    public var inputs: String
    public var parameters: [Parameter]
    /// Why scripts may not use it; nil when they may.
    public var refusal: String?
    /// It works on sound, not on pictures.
    public var isSound = false

    public init(
        name: String, summary: String, inputs: String, parameters: [Parameter] = [], refusal: String? = nil
    ) {
        self.name = name
        self.summary = summary
        self.inputs = inputs
        self.parameters = parameters
        self.refusal = refusal
    }
}
