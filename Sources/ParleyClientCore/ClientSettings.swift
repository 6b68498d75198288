public import SocketMessages

/// A client's id with the token that proves it. This identity outlives connections.
public typealias ClientClaim = ClientMessage.Hello.Claim

/// The settings of a client: its person, and its timing.
public struct ClientSettings: Sendable {
  /// The person's name as shown to others.
  public var name: String
  /// The person's colour, `#rrggbb`.
  public var color: String?
  /// Whether the client requests a token before each connection.
  public var usesTokens: Bool
  /// Whether the client stops if the server identifies it as another person than before, so that
  /// edits are never sent under another person's name.
  public var isOnePersons = false
  /// Whether the server may send changes with numbers instead of ids.
  public var takesNumbers = true
  /// The delays and timeouts.
  public var timing = ClientTiming()

  /// Creates settings, by default without tokens.
  public init(name: String, color: String? = nil, usesTokens: Bool = false) {
    self.name = name
    self.color = color
    self.usesTokens = usesTokens
  }
}

/// A client's delays and timeouts, in milliseconds.
public struct ClientTiming: Sendable {
  /// Maximum delay before the first reconnection. It doubles with each attempt; each delay is
  /// random within the upper half.
  public var firstDelay: Int64 = 250
  /// Maximum delay before any reconnection.
  public var longestDelay: Int64 = 15_000
  /// Time without a message after which a ping is sent.
  public var quietBeforePing: Int64 = 20_000
  /// Timeout of the ping, after which the connection is given up.
  public var answerWithin: Int64 = 8_000
  /// Timeout of a ping after the network has changed.
  public var probeWithin: Int64 = 2_500
  /// Timeout of opening a connection, up to the welcome.
  public var openWithin: Int64 = 10_000
  /// Minimum time from welcome to the expiry of a token. After a shorter one, the reconnection is
  /// delayed.
  public var tokenLeast: Int64 = 5_000
  /// Time from the first unconfirmed edit until the edits are stored, …
  public var keepAfter: Int64 = 150
  /// … or this many times the duration of the last write, if that is longer, …
  public var keepShare: Int64 = 20
  /// … but never longer than this.
  public var keepWithin: Int64 = 3_000
  /// Delay before a failed write is retried.
  public var keepAgain: Int64 = 1_000
  /// Interval between two messages about carets.
  public var selectEvery: Int64 = 80
  /// Delay before a retryable refusal is retried, unless the server names one.
  public var retryAfter: Int64 = 1_000
  /// Time for which an author is shown as writing after each edit.
  public var writingStays: Int64 = 3_000

  /// Creates the default timing.
  public init() {}
}
