import ParleyGatewayPorts

/// The state of reading the shared logs of documents in memory.
struct SharedLogs {
  /// Whether a document with a shared log has been loaded.
  private(set) var hasSharedLogs = false
  /// The documents whose heads are read in rotation.
  var heads = NameRotation<DocumentID>()
  /// Documents with a commit of unknown outcome; the next tick reads their logs again.
  private var unsettled: [DocumentRoom] = []

  /// Records that a document has a shared log.
  mutating func use() { hasSharedLogs = true }

  /// Records that the outcome of a document's commit is unknown.
  mutating func unsettle(_ room: DocumentRoom) {
    room.log.unsettle()
    unsettled.append(room)
  }

  /// Returns the documents whose outcomes are still unknown, each once.
  mutating func stillUnsettled(in documents: DocumentTable) -> [DocumentRoom] {
    var seen: Set<ObjectIdentifier> = []
    unsettled = unsettled.filter {
      documents.holds($0) && $0.log.isUnsettled && seen.insert(ObjectIdentifier($0)).inserted
    }
    return unsettled
  }
}
