/// The limits for a client, announced in `welcome`. All rates are averages.
public struct Limits: Sendable, Equatable {
  /// Maximum bytes of one message.
  public var messageBytesMax = 4 << 20
  /// Maximum Unicode scalars of one document.
  public var documentScalarsMax = 4_000_000
  /// Maximum documents that one connection follows.
  public var documentsPerConnectionMax = 64
  /// Maximum rooms to which one connection is subscribed.
  public var roomsPerConnectionMax = 64
  /// Maximum bytes of a document's id.
  public var documentIDBytesMax = 200
  /// Maximum bytes of a room's name.
  public var roomBytesMax = 200
  /// Maximum bytes of a person's name.
  public var nameBytesMax = 200
  /// Maximum bytes of a note's title.
  public var titleBytesMax = 500
  /// Maximum selections of one client in one document.
  public var selectionsMax = 16
  /// Maximum bytes of a publication's data.
  public var publicationBytesMax = 64 << 10
  /// Maximum bytes of a publication's key, of a sender's id, and of the reason of a flag.
  public var keyBytesMax = 200
  /// Maximum publications of one page of history, or of one batch.
  public var pageMax = 100
  /// Maximum people present in one room.
  public var presentMax = 1_000
  /// Milliseconds of silence after which a client is no longer shown as present in rooms.
  public var presenceLeaseMilliseconds = 90_000
  /// Milliseconds after which typing ends unless it is renewed.
  public var typingMilliseconds = 6_000
  /// Maximum activity messages (typing, receipts, entering and leaving rooms) of one connection per
  /// second.
  public var signsPerSecondMax = 20
  /// Maximum components of one operation.
  public var operationComponentsMax = 100_000
  /// Maximum additional tokens of one connection.
  public var grantsMax = 16
  /// Maximum burst: the messages of this many seconds at the permitted rate may arrive at once.
  public var burstSeconds = 10
  /// Maximum messages of one connection per second. 0 means unlimited, as for all rates.
  public var messagesPerSecondMax = 500
  /// Maximum bytes of one connection's messages per second.
  public var bytesPerSecondMax = 4 << 20
  /// Maximum simultaneous connections of one user; 0 means unlimited.
  public var userConnectionsMax = 100
  /// Maximum connections that one user opens per second.
  public var userConnectsPerSecondMax = 20
  /// Maximum messages on all connections of one user per second.
  public var userMessagesPerSecondMax = 2_000
  /// Maximum bytes on all connections of one user per second.
  public var userBytesPerSecondMax = 16 << 20
  /// Maximum HTTP requests with one user's tokens per second.
  public var userRequestsPerSecondMax = 1_000
  /// Maximum simultaneous connections from one address; 0 means unlimited.
  public var addressConnectionsMax = 1_000
  /// Maximum connections opened from one address per second.
  public var addressConnectsPerSecondMax = 200
  /// Maximum messages on all connections from one address per second.
  public var addressMessagesPerSecondMax = 10_000
  /// Maximum bytes on all connections from one address per second.
  public var addressBytesPerSecondMax = 64 << 20
  /// Maximum HTTP requests from one address per second.
  public var addressRequestsPerSecondMax = 2_000

  /// Creates the default limits.
  public init() {}
}
