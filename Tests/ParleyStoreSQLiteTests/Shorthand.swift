import ParleyGatewayPorts
import OTCore
import Testing

let epoch: Epoch = "epoch-1"

/// Returns an operation that appends text to a text of `length` scalars.
func appending(_ text: String, to length: Int) -> TextOperation {
  var operation = TextOperation()
  operation.retain(length)
  operation.insert(text)
  return operation
}

/// Returns an entry of a client, whose sequence number is the revision.
func entry(_ revision: Int, _ operation: TextOperation, client: String = "ann") -> LogEntry {
  LogEntry(
    revision: revision, client: client, sequence: revision, digest: UInt64(revision) &* 77,
    operation: operation, author: "Ann", time: Timestamp(1_000 + revision))
}

/// Returns a named version of a revision.
func version(_ revision: Int, _ name: String) -> NamedVersion {
  NamedVersion(revision: revision, name: name, author: "Ann", time: 5_000)
}

extension DocumentStore {
  /// Performs one request.
  func one(_ request: StoreRequest) -> StoreReply { perform([request])[0] }

  func create(_ id: DocumentID, title: String = "Note") {
    #expect(error(.create(id: id, epoch: epoch, title: title, time: 1)) == nil)
  }

  /// Appends one character per entry after the head, and returns the new head.
  @discardableResult
  func type(_ text: String, in id: DocumentID, after revision: Int) -> Int {
    var entries: [LogEntry] = []
    for (offset, scalar) in text.unicodeScalars.enumerated() {
      entries.append(
        entry(revision + offset + 1, appending(String(scalar), to: revision + offset)))
    }
    #expect(error(.append(id: id, epoch: epoch, entries: entries)) == nil)
    return revision + entries.count
  }

  func error(_ request: StoreRequest) -> StoreError? {
    guard case .failed(let error) = one(request) else { return nil }
    return error
  }

  func load(_ id: DocumentID, recentMax: Int = 10) throws -> StoredDocument {
    switch one(.load(id: id, recentMax: recentMax)) {
    case .document(let document): return document
    case .failed(let error): throw error
    default: throw StoreError.damaged("an unexpected reply")
    }
  }
}
