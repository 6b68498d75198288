public import SocketMessages

/// A client's id, and the resume token that authenticates it. This identity outlives connections.
public typealias ClientClaim = ClientMessage.Hello.Claim

/// The settings of a client: the user's name and colour, the use of tokens, and the timing.
public struct ClientSettings: Sendable {
  /// The person's name as shown to others.
  public var name: String
  /// The person's colour, `#rrggbb`.
  public var color: String?
  /// Whether the client requests a token before each connection.
  public var usesTokens: Bool
  /// Whether the client stops if the user changes between two connections. The unconfirmed edits of
  /// one user are then never sent as another user.
  public var isOnePersons = false
  /// Whether the server may identify the author of a change by a number instead of an id.
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
  /// Maximum delay before the first reconnection. The maximum doubles with each attempt. The delay
  /// is random, between half of the maximum and the maximum.
  public var firstDelay: Int64 = 250
  /// Maximum delay before any reconnection.
  public var longestDelay: Int64 = 15_000
  /// Time without a message after which a ping is sent.
  public var quietBeforePing: Int64 = 20_000
  /// Timeout of a ping. Without an answer, the connection is closed.
  public var answerWithin: Int64 = 8_000
  /// Timeout of a ping after the network has changed.
  public var probeWithin: Int64 = 2_500
  /// Timeout from the start of a connection until `welcome` is received.
  public var openWithin: Int64 = 10_000
  /// Minimum time from welcome to the expiry of a token. If a token expires sooner, the
  /// reconnection is delayed.
  public var tokenLeast: Int64 = 5_000
  /// Minimum delay before unconfirmed edits are stored on this device.
  public var keepAfter: Int64 = 150
  /// The delay before the next write is at least this multiple of the duration of the last write.
  public var keepShare: Int64 = 20
  /// Maximum delay before unconfirmed edits are stored.
  public var keepWithin: Int64 = 3_000
  /// Delay before a failed write is retried.
  public var keepAgain: Int64 = 1_000
  /// Minimum interval between two messages with selections.
  public var selectEvery: Int64 = 80
  /// Delay before a rejected request is retried, if the server does not specify one.
  public var retryAfter: Int64 = 1_000
  /// Time for which an author is shown as writing after each edit.
  public var writingStays: Int64 = 3_000

  /// Creates the default timing.
  public init() {}
}
