import ParleyGatewayPorts
import ParleyJSON
import ParleySocketIO

/// An event for readers over Socket.IO.
enum SocketContent {
  /// The same for all readers; `author` is the person who caused it, if one did.
  case packet(SocketPacket, author: PersonID?)
  /// A publication, whose place in the room some readers want beside it.
  case publication(Publication, data: JSONValue, epoch: String)

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

  /// The packet for the subscribers of the room.
  ///
  /// - Parameter hasPlace: whether the reader wants a publication's place in the room.
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

/// The events that Socket.IO clients can recover (connection state recovery): one log for all of
/// them, in memory, bounded in bytes and in time.
///
/// Places count up, and begin with a name that is unique to this run of the server: a place from an earlier
/// run is not valid here.
struct RecoveryLog {
  /// The recipients of an entry.
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
    /// In milliseconds of uptime.
    let time: Int64
    /// The bytes that an entry counts for, including its own memory.
    var byteCount: Int { content.byteCount + 128 }
  }

  private let name: String
  private let bytesMax: Int
  private let milliseconds: Int64
  private var entries: [Entry] = []
  /// Entries at the front that are forgotten, and not yet removed.
  private var forgotten = 0
  private var byteCount = 0
  /// The place of the newest entry.
  private(set) var head: UInt64 = 0

  /// - Parameters:
  ///   - name: of this run of the server.
  ///   - milliseconds: for which an entry is kept, at most.
  init(name: String, bytesMax: Int, milliseconds: Int64) {
    self.name = name
    self.bytesMax = bytesMax
    self.milliseconds = milliseconds
  }

  /// Adds an entry.
  ///
  /// - Returns: Its place, as clients know it.
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

  /// Forgets entries that are too old, or over the size limit.
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

  /// Forgets everything: no client is left that may resume.
  mutating func forgetAll() {
    entries = []
    forgotten = 0
    byteCount = 0
  }

  /// Returns the entries after a place, oldest first; `nil` if some of them have expired.
  ///
  /// - Complexity: O(1).
  func entries(after place: UInt64) -> ArraySlice<Entry>? {
    let kept = entries[forgotten...]
    guard place >= head - UInt64(kept.count) else { return nil }
    return kept.suffix(Int(head - min(place, head)))
  }

  /// A place as clients know it.
  func text(of place: UInt64) -> String { name + "." + String(place, radix: 36) }

  /// The place that a client names; `nil` if it is not a place of this run of the server.
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
