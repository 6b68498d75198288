import ParleyGatewayPorts

/// The documents in memory or being loaded, by id.
final class DocumentTable {
  private var rooms: [DocumentID: DocumentRoom] = [:]
  /// The number of documents loaded since the start, by which they are numbered.
  private var made = 0

  var count: Int { rooms.count }
  var values: Dictionary<DocumentID, DocumentRoom>.Values { rooms.values }

  subscript(id: DocumentID) -> DocumentRoom? { rooms[id] }

  /// Whether the table contains this room, and not a newer room of its name.
  func holds(_ room: DocumentRoom) -> Bool { rooms[room.id] === room }

  /// Adds a document.
  ///
  /// - Parameter room: Creates the room, with a unique number.
  func enter(_ id: DocumentID, _ room: (_ number: Int) -> DocumentRoom) -> DocumentRoom {
    made += 1
    let room = room(made)
    rooms[id] = room
    return room
  }

  /// Removes a document.
  func remove(_ room: DocumentRoom) { rooms[room.id] = nil }

  // MARK: Topics

  /// The topic of a document's hints to other nodes.
  func topic(of id: DocumentID) -> String { "note/" + id.text }

  /// Returns the document in memory to which a topic belongs.
  func room(under topic: String) -> DocumentRoom? {
    let prefix = self.topic(of: "").utf8
    guard topic.utf8.starts(with: prefix) else { return nil }
    return rooms[DocumentID(String(decoding: topic.utf8.dropFirst(prefix.count), as: UTF8.self))]
  }
}
