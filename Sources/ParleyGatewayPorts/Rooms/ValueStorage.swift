import ParleyJSON

/// The part of a room's values to read.
public struct ValueQuery: Sendable, Hashable {
  /// The names of the values.
  public enum Names: Sendable, Hashable {
    /// All names with a prefix, after a name.
    case prefix(String, after: ValueName?)
    /// A single name.
    case one(ValueName)
  }

  /// The names of the values.
  public var names: Names
  /// Maximum values of a page.
  public var countMax: Int
  /// Maximum bytes of the names and values of a page, unless the first value alone exceeds that.
  public var bytesMax: Int
  /// The position of a page of this query that the reader has; `nil` for none. If the room is still
  /// at this position, the values are not read.
  public var known: RoomPosition?

  /// Creates a query, by default for a page of standard size.
  public init(
    _ names: Names, countMax: Int = 1_000, bytesMax: Int = 256 << 10, known: RoomPosition? = nil
  ) {
    self.names = names
    self.countMax = countMax
    self.bytesMax = bytesMax
    self.known = known
  }
}

/// A value of a room with its name.
public struct NamedValue: Sendable, Hashable {
  /// The name.
  public var name: ValueName
  /// The value.
  public var value: RoomValue

  /// Creates a named value.
  public init(_ name: ValueName, _ value: RoomValue) {
    self.name = name
    self.value = value
  }
}

/// Values of a room at one position, in the order of their names.
///
/// Further pages may have later positions. A reader that has all pages, and applies each following
/// operation whose offset exceeds the position of the page that covers its name, has the room's
/// values.
public struct RoomValuesPage: Sendable, Equatable {
  /// The position at which these are the values.
  public var head: RoomPosition
  /// The values.
  public var values: [NamedValue]
  /// Whether there are further values after the last one.
  public var hasMore: Bool
  /// Whether the reader has the page of this position, so that the values are missing here.
  public var isKnown = false

  /// Creates a page of values.
  public init(head: RoomPosition, values: [NamedValue], hasMore: Bool) {
    self.head = head
    self.values = values
    self.hasMore = hasMore
  }

  /// Creates the reply to a reader that has the page of a position.
  package static func known(at head: RoomPosition) -> RoomValuesPage {
    var page = RoomValuesPage(head: head, values: [], hasMore: false)
    page.isKnown = true
    return page
  }

  /// Truncates values to a page of a query, which has at least one if there is one.
  package static func cut(
    _ found: [NamedValue], to query: ValueQuery, at head: RoomPosition
  ) -> RoomValuesPage {
    var bytes = 0
    var count = 0
    for item in found.prefix(max(query.countMax, 1)) {
      bytes += item.name.text.utf8.count + item.value.value.utf8.count
      if count > 0, bytes > query.bytesMax { break }
      count += 1
    }
    return RoomValuesPage(
      head: head, values: Array(found.prefix(count)), hasMore: count < found.count)
  }
}

/// Values that are to be deleted.
public enum EndingValues: Sendable, Hashable {
  /// Values whose lifetime has ended at a time.
  case expired(at: Timestamp)
  /// Values that are bound to the connections of a client.
  case held(by: String)
  /// All values that are bound to the connections of any client, after a place in their order.
  case heldByAny(after: EndingValue?)
}

/// A value that is to be deleted, unless it has changed since.
public struct EndingValue: Sendable, Hashable {
  /// The room.
  public var room: RoomName
  /// The name of the value.
  public var name: ValueName
  /// The offset of the value's last change.
  public var offset: Int
  /// The client to whose connections the value is bound; `nil` if to none.
  public var holder: String?

  /// Creates a value that is to be deleted.
  public init(room: RoomName, name: ValueName, offset: Int, holder: String?) {
    self.room = room
    self.name = name
    self.offset = offset
    self.holder = holder
  }
}
