import ParleyGatewayPorts

/// The logs in memory that several nodes share, as far as they are to be read.
struct SharedLogs {
  /// Whether a document came from such a log.
  private(set) var isUsed = false
  /// The documents whose heads are still to be asked for.
  var heads = NameRotation<DocumentID>()
  /// Documents with a commit whose outcome is unknown, whose logs are read again with the next tick.
  private var unsettled: [DocumentRoom] = []

  /// A document came from a shared log.
  mutating func use() { isUsed = true }

  /// The outcome of a document's commit is unknown.
  mutating func unsettle(_ room: DocumentRoom) {
    room.log.unsettle()
    unsettled.append(room)
  }

  /// The documents whose outcomes are still unknown, each once.
  mutating func stillUnsettled(in documents: DocumentTable) -> [DocumentRoom] {
    var seen: Set<ObjectIdentifier> = []
    unsettled = unsettled.filter {
      documents.holds($0) && $0.log.isUnsettled && seen.insert(ObjectIdentifier($0)).inserted
    }
    return unsettled
  }
}
