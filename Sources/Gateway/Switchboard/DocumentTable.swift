import ParleyGatewayPorts

/// The documents in memory, or on their way there, by their names.
final class DocumentTable {
  private var rooms: [DocumentID: DocumentRoom] = [:]
  /// The documents that were brought to memory since the start: each has a number of its own.
  private var made = 0

  var count: Int { rooms.count }
  var values: Dictionary<DocumentID, DocumentRoom>.Values { rooms.values }

  subscript(id: DocumentID) -> DocumentRoom? { rooms[id] }

  /// Whether a document is there, and was not replaced since.
  func holds(_ room: DocumentRoom) -> Bool { rooms[room.id] === room }

  /// Adds a document.
  ///
  /// - Parameter room: makes it, with a number of its own.
  func enter(_ id: DocumentID, _ room: (_ number: Int) -> DocumentRoom) -> DocumentRoom {
    made += 1
    let room = room(made)
    rooms[id] = room
    return room
  }

  /// Forgets a document.
  func remove(_ room: DocumentRoom) { rooms[room.id] = nil }

  // MARK: Topics

  /// The topic of a document's hints to other nodes.
  func topic(of id: DocumentID) -> String { "note/" + id.text }

  /// The document in memory that a topic is of.
  func room(under topic: String) -> DocumentRoom? {
    let prefix = self.topic(of: "").utf8
    guard topic.utf8.starts(with: prefix) else { return nil }
    return rooms[DocumentID(String(decoding: topic.utf8.dropFirst(prefix.count), as: UTF8.self))]
  }
}
