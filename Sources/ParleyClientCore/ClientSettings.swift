public import SocketMessages

/// A client's id with the token that proves it: its identity, longer than its connections.
public typealias ClientClaim = ClientMessage.Hello.Claim

/// A client's person, and how it waits.
public struct ClientSettings: Sendable {
  /// The person's name as shown to others.
  public var name: String
  /// The person's colour, `#rrggbb`.
  public var color: String?
  /// Whether a token is asked for before each connection.
  public var usesTokens: Bool
  /// Whether a client stops when the server takes it for another person than before, so that edits
  /// never go out under another person's name.
  public var isOnePersons = false
  /// Whether the server may send changes with numbers in place of ids, where it can.
  public var takesNumbers = true
  /// Times in milliseconds.
  public var timing = ClientTiming()

  /// Makes settings.
  public init(name: String, color: String? = nil, usesTokens: Bool = false) {
    self.name = name
    self.color = color
    self.usesTokens = usesTokens
  }
}

/// A client's delays and timeouts, in milliseconds.
public struct ClientTiming: Sendable {
  /// The longest delay before the first new connection; it doubles with each attempt, and the
  /// delay is drawn from its second half.
  public var firstDelay: Int64 = 250
  /// The longest delay of all.
  public var longestDelay: Int64 = 15_000
  /// Silence after which a ping is sent.
  public var quietBeforePing: Int64 = 20_000
  /// The time for any message after that, before the connection is given up.
  public var answerWithin: Int64 = 8_000
  /// The same when the network has just changed.
  public var probeWithin: Int64 = 2_500
  /// The time for opening a connection and being welcomed.
  public var openWithin: Int64 = 10_000
  /// A connection whose token ends sooner than this after its welcome is followed by a delay.
  public var tokenLeast: Int64 = 5_000
  /// Unconfirmed edits are kept so long after the first of them, …
  public var keepAfter: Int64 = 150
  /// … or later where keeping takes long: so many times as long as it took, …
  public var keepShare: Int64 = 20
  /// … but not later than this.
  public var keepWithin: Int64 = 3_000
  /// The pause before a keep that has failed is tried again.
  public var keepAgain: Int64 = 1_000
  /// The pause between two messages about carets.
  public var selectEvery: Int64 = 80
  /// The pause before a retryable refusal is tried again, unless the server says.
  public var retryAfter: Int64 = 1_000
  /// Each edit shows its author as writing for so long.
  public var writingStays: Int64 = 3_000

  /// The usual times.
  public init() {}
}
