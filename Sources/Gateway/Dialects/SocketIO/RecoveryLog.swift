import ParleyGatewayPorts
import ParleyJSON
import ParleySocketIO

/// An event for Socket.IO subscribers.
enum SocketContent {
  /// A packet that is the same for all subscribers; `author` is the person who caused it, if any.
  case packet(SocketPacket, author: PersonID?)
  /// A publication, which some subscribers receive with its position in the room.
  case publication(Publication, data: JSONValue, epoch: Epoch)

  /// The event's author.
  var author: PersonID? {
    switch self {
    case .packet(_, let author): author
    case .publication(let publication, _, _): publication.personID
    }
  }

  /// The approximate size of its content in bytes.
  var byteCount: Int {
    switch self {
    case .packet(let packet, _): packet.data?.utf8.count ?? 0
    case .publication(_, let data, _): data.utf8.count
    }
  }

  /// Returns the packet for the subscribers of the room.
  ///
  /// - Parameter hasPlace: whether the subscriber wants a publication's position in the room.
  func packet(in room: RoomName, hasPlace: Bool) -> SocketPacket {
    switch self {
    case .packet(let packet, _): packet
    case .publication(let publication, let data, let epoch):
      hasPlace
        ? RoomView.numbered(
          data, RoomPosition(epoch: epoch, offset: publication.offset), in: room)
        : RoomView.socketIO(data, in: room)
    }
  }
}

/// The events that Socket.IO clients can recover (connection state recovery): one log in memory for
/// all clients, limited in bytes and in time.
///
/// A position is an ascending number. Its text for clients begins with a name that is unique to
/// this run of the server, so positions from earlier runs are invalid.
struct RecoveryLog {
  /// The receivers of an entry.
  enum Audience {
    /// All subscribers of a room.
    case room(RoomName)
    /// A single client, by its recovery id.
    case client(String)
  }

  struct Entry {
    let place: UInt64
    let audience: Audience
    let content: SocketContent
    /// The time of the entry, in milliseconds of uptime.
    let time: Int64
    /// The bytes counted for the entry, with an estimate of its overhead.
    var byteCount: Int { content.byteCount + 128 }
  }

  private let name: String
  private let bytesMax: Int
  private let milliseconds: Int64
  private var entries: [Entry] = []
  /// The number of discarded entries at the front of `entries`, which are removed in batches.
  private var forgotten = 0
  private var byteCount = 0
  /// The position of the newest entry.
  private(set) var head: UInt64 = 0

  /// - Parameters:
  ///   - name: a name unique to this run of the server.
  ///   - milliseconds: the maximum age of an entry.
  init(name: String, bytesMax: Int, milliseconds: Int64) {
    self.name = name
    self.bytesMax = bytesMax
    self.milliseconds = milliseconds
  }

  /// Adds an entry, and discards entries over the limits.
  ///
  /// - Returns: The position as text for clients.
  mutating func append(
    _ content: SocketContent, for audience: Audience, now: Int64
  ) -> String {
    head += 1
    let entry = Entry(place: head, audience: audience, content: content, time: now)
    entries.append(entry)
    byteCount += entry.byteCount
    forget(now: now)
    return text(of: head)
  }

  /// Discards entries that are too old, or exceed the size limit.
  mutating func forget(now: Int64) {
    while forgotten < entries.count,
      byteCount > bytesMax || entries[forgotten].time + milliseconds <= now
    {
      byteCount -= entries[forgotten].byteCount
      forgotten += 1
    }
    if forgotten > 32, forgotten * 2 > entries.count {
      entries.removeFirst(forgotten)
      forgotten = 0
    }
  }

  /// Discards all entries, because no client can resume.
  mutating func forgetAll() {
    entries = []
    forgotten = 0
    byteCount = 0
  }

  /// Returns the entries after a position, oldest first; `nil` if some were discarded.
  ///
  /// - Complexity: O(1).
  func entries(after place: UInt64) -> ArraySlice<Entry>? {
    let kept = entries[forgotten...]
    guard place >= head - UInt64(kept.count) else { return nil }
    return kept.suffix(Int(head - min(place, head)))
  }

  /// Returns a position as text for clients.
  func text(of place: UInt64) -> String { name + "." + String(place, radix: 36) }

  /// Parses a client's position; `nil` if it is not of this run of the server.
  func place(_ text: String?) -> UInt64? {
    guard let text else { return nil }
    let prefix = name + "."
    guard text.utf8.starts(with: prefix.utf8), text.utf8.count <= prefix.utf8.count + 13,
      let place = UInt64(
        String(decoding: text.utf8.dropFirst(prefix.utf8.count), as: UTF8.self), radix: 36),
      place <= head
    else { return nil }
    return place
  }
}
