import ParleyGatewayPorts
import SocketMessages

/// The first page of a room's values, as subscribers receive it.
struct ValueSnapshot {
  /// The position at which these are the values.
  let head: RoomPosition
  /// The values, written once for all subscribers.
  let values: NamedValues
  /// Whether there are further values after the last one.
  let hasMore: Bool
}

/// The newest first pages of rooms' values.
///
/// A subscription asks the store whether the room is still at a page's position. If it is, the page is
/// sent without reading and writing each value again. Times are milliseconds of uptime.
struct ValueSnapshots {
  /// Names that look alike are different, so the prefix is compared as a name.
  private struct Key: Hashable {
    let room: RoomName
    let prefix: ValueName
  }

  private struct Page {
    let snapshot: ValueSnapshot
    let bytes: Int
    let readAt: Int64
  }

  /// Maximum bytes of all pages. Beyond, all are dropped.
  private static let bytesMax = 16 << 20
  /// Milliseconds for which a page is used. A store that loses commits without notice, and repeats
  /// their offsets, has other values at a page's position.
  private static let ageMax: Int64 = 10_000

  private var bytes = 0
  private var pages: [Key: Page] = [:]

  /// Returns the stored page, if it is recent.
  func page(of room: RoomName, _ names: ValueNames, now: Int64) -> ValueSnapshot? {
    guard let page = pages[Key(room: room, prefix: ValueName(names.prefix))],
      now - page.readAt < Self.ageMax
    else { return nil }
    return page.snapshot
  }

  /// Returns a page as subscribers receive it, and stores it for the next ones.
  mutating func add(
    _ page: RoomValuesPage, of room: RoomName, _ names: ValueNames, now: Int64
  ) -> ValueSnapshot {
    let (values, count) = NamedValues(page).written()
    let snapshot = ValueSnapshot(head: page.head, values: values, hasMore: page.hasMore)
    let key = Key(room: room, prefix: ValueName(names.prefix))
    bytes -= pages.removeValue(forKey: key)?.bytes ?? 0
    if bytes + count > Self.bytesMax {
      pages = [:]
      bytes = 0
    }
    if count <= Self.bytesMax {
      pages[key] = Page(snapshot: snapshot, bytes: count, readAt: now)
      bytes += count
    }
    return snapshot
  }
}

extension NamedValues {
  /// Creates the values of a page in the form of messages.
  init(_ page: RoomValuesPage) {
    self.init(page.values.map { Item($0.name, $0.value.value, offset: $0.value.offset) })
  }
}
