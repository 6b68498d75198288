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

  /// The defaults.
  public init() {}
}
