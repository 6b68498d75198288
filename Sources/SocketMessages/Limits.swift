/// What a server allows a client, announced in `welcome`.
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
  /// Milliseconds after which somebody who sent nothing is no longer shown as present in rooms.
  public var presenceLeaseMilliseconds = 90_000
  /// Milliseconds after which typing that is not renewed has ended.
  public var typingMilliseconds = 6_000
  /// Signs of life (typing, receipts, coming to rooms and leaving them) that a connection may send
  /// in a second, on average.
  public var signsPerSecondMax = 20

  /// The defaults.
  public init() {}
}
