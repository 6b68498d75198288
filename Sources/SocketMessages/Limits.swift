/// The limits for a client, announced in `welcome`.
public struct Limits: Sendable, Equatable {
  /// Bytes of one message.
  public var messageBytesMax = 4 << 20
  /// Unicode scalars of one document.
  public var documentScalarsMax = 4_000_000
  /// Documents that one connection may follow.
  public var documentsPerConnectionMax = 64
  /// Rooms that one connection may be subscribed to.
  public var roomsPerConnectionMax = 64
  /// Bytes of a document's id.
  public var documentIDBytesMax = 200
  /// Bytes of a room's name.
  public var roomBytesMax = 200
  /// Bytes of a person's name.
  public var nameBytesMax = 200
  /// Bytes of a note's title.
  public var titleBytesMax = 500
  /// Selections of one client in one document.
  public var selectionsMax = 16
  /// Bytes of a publication's data.
  public var publicationBytesMax = 64 << 10
  /// Bytes of a publication's key, of a sender's name, and of the reason of a flag.
  public var keyBytesMax = 200
  /// Publications of one page of history, or of one batch.
  public var pageMax = 100
  /// People who are present in one room.
  public var presentMax = 1_000
  /// Milliseconds without a message after which a client is no longer shown as present in rooms.
  public var presenceLeaseMilliseconds = 90_000
  /// Milliseconds after which typing that is not renewed has ended.
  public var typingMilliseconds = 6_000
  /// Signs of life (typing, receipts, coming to rooms and leaving them) that a connection may send
  /// in a second, on average.
  public var signsPerSecondMax = 20
  /// Components of one operation.
  public var operationComponentsMax = 100_000
  /// Further tokens of one connection.
  public var grantsMax = 16
  /// Seconds whose worth of a rate may come at once.
  public var burstSeconds = 10
  /// Messages of one connection in a second, on average; 0 for as many as come, as with all rates.
  public var messagesPerSecondMax = 500
  /// Bytes of one connection's messages in a second.
  public var bytesPerSecondMax = 4 << 20
  /// Connections of one user at once; 0 for as many as come.
  public var userConnectionsMax = 100
  /// Connections that one user may open in a second.
  public var userConnectsPerSecondMax = 20
  /// Messages on all connections of one user in a second.
  public var userMessagesPerSecondMax = 2_000
  /// Bytes of them.
  public var userBytesPerSecondMax = 16 << 20
  /// HTTP requests with tokens of one user in a second.
  public var userRequestsPerSecondMax = 1_000
  /// Connections from one address at once; 0 for as many as come.
  public var addressConnectionsMax = 1_000
  /// Connections that may be opened from one address in a second.
  public var addressConnectsPerSecondMax = 200
  /// Messages on all connections from one address in a second.
  public var addressMessagesPerSecondMax = 10_000
  /// Bytes of them.
  public var addressBytesPerSecondMax = 64 << 20
  /// HTTP requests from one address in a second.
  public var addressRequestsPerSecondMax = 2_000

  /// The defaults.
  public init() {}
}
