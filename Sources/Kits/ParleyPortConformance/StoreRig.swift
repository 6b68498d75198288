import ParleyGatewayPorts
import OTCore
import ParleyJSON

/// A store under test, with convenience functions for requests.
final class StoreRig: ReplyReader {
  static let epoch: Epoch = "first-epoch"

  private let open: () throws -> any DocumentStore
  private(set) var store: (any DocumentStore)?

  init(_ open: @escaping () throws -> any DocumentStore) throws {
    self.open = open
    store = try open()
  }

  func restart() throws {
    store = nil
    store = try open()
  }

  func maintain() {
    while store?.maintain() == true {}
  }

  func perform(_ batch: StoreRequest...) throws -> [StoreReply] { try perform(batch) }

  func perform(_ batch: [StoreRequest]) throws -> [StoreReply] {
    guard let store else { throw ConformanceFailure("the store did not open") }
    let replies = store.perform(batch)
    try require(replies.count == batch.count, "\(batch.count) replies, not \(replies.count)")
    return replies
  }

  private func one(_ request: StoreRequest) throws -> StoreReply { try perform([request])[0] }

  // MARK: Single requests

  @discardableResult
  func create(_ id: DocumentID, title: String = "A note", time: Timestamp = 1_000) throws
    -> NoteSummary
  {
    try note(one(.create(id: id, epoch: Self.epoch, title: title, time: time)))
  }

  @discardableResult
  func rename(_ id: DocumentID, title: String, time: Timestamp) throws -> NoteSummary {
    try note(one(.rename(id: id, title: title, time: time)))
  }

  @discardableResult
  func move(
    _ id: DocumentID, to folder: String, title: String? = nil, time: Timestamp = 9
  ) throws -> NoteSummary {
    let reply = try folders(.move(id: id, to: FolderPath(folder), title: title, time: time))
    guard case .note(let note) = reply else { throw unexpected(reply, "a note") }
    return note
  }

  /// The ids of notes in a folder.
  func ids(in folder: String, after place: NoteSortKey? = nil, limit: Int = 100) throws
    -> [DocumentID]
  {
    let reply = try folders(.notes(in: FolderPath(folder), after: place, limit: limit))
    guard case .notes(let notes) = reply else { throw unexpected(reply, "notes") }
    return notes.map(\.id)
  }

  /// Returns all folders as `folder:notes`, read in steps of bounded work.
  func counts(_ counting: FolderCounting, limit: Int, work: Int) throws -> [String] {
    var all: [String] = []
    var place: FolderListPosition?
    var steps = 0
    repeat {
      guard
        case .folders(let found, let next) = try folders(
          .list(after: place, limit: limit, counting: counting, work: work)),
        found.count <= limit, steps < 1_000
      else { throw ConformanceFailure("expected at most \(limit) folders, and an end") }
      all += found.map { "\($0.folder.text):\($0.notes)" }
      place = next
      steps += 1
    } while place != nil
    return all
  }

  func folders(_ request: FolderRequest) throws -> FolderReply {
    let reply = try one(.folders(request))
    guard case .folders(let folders) = reply else { throw unexpected(reply, "folders") }
    return folders
  }

  func delete(_ id: DocumentID) throws { try done(one(.delete(id: id))) }

  func delete(_ id: DocumentID, at time: Timestamp, by author: String = "Ann") throws {
    try done(.delete(id: id, keeping: Deletion(time: time, author: author)))
  }

  @discardableResult
  func bringBack(_ id: DocumentID) throws -> NoteSummary {
    try note(one(.deleted(.bringBack(id: id))))
  }

  func deleted(after place: NoteSortKey? = nil, limit: Int = 100) throws -> [DeletedNote] {
    let reply = try one(.deleted(.list(after: place, limit: limit)))
    guard case .deletedNotes(let notes) = reply else { throw unexpected(reply, "deleted notes") }
    return notes
  }

  func append(_ id: DocumentID, _ entries: LogEntry...) throws {
    try done(.append(id: id, epoch: Self.epoch, entries: entries))
  }

  func load(_ id: DocumentID, recentMax: Int = 100) throws -> StoredDocument {
    let reply = try one(.load(id: id, recentMax: recentMax))
    guard case .document(let document) = reply else { throw unexpected(reply, "a document") }
    return document
  }

  func entries(
    _ id: DocumentID, after: Int, through: Int, bytesMax: Int = .max
  ) throws -> [LogEntry] {
    let reply = try one(.entries(id: id, after: after, through: through, bytesMax: bytesMax))
    guard case .entries(let entries) = reply else { throw unexpected(reply, "entries") }
    return entries
  }

  func text(_ id: DocumentID, at point: HistoryPoint) throws -> HistoricText {
    let reply = try one(.text(id: id, at: point))
    guard case .text(let text) = reply else { throw unexpected(reply, "a text") }
    return text
  }

  func history(
    _ id: DocumentID, after: Int, limit: Int = .max, pause: Timestamp
  ) throws -> HistoryPage {
    let reply = try one(.history(id: id, after: after, limit: limit, pause: pause))
    guard case .history(let page) = reply else { throw unexpected(reply, "groups") }
    return page
  }

  func sessions(
    _ id: DocumentID, before: Int = .max, limit: Int = .max, pause: Timestamp
  ) throws -> EditingSessionPage {
    let reply = try one(.past(id: id, .sessions(before: before, limit: limit, pause: pause)))
    guard case .editingSessions(let page) = reply else { throw unexpected(reply, "sessions") }
    return page
  }

  func difference(_ id: DocumentID, from: Int, to: Int) throws -> TextDifference {
    let reply = try one(.past(id: id, .difference(from: from, to: to)))
    guard case .difference(.difference(let difference)) = reply else {
      throw unexpected(reply, "a difference")
    }
    return difference
  }

  func versions(_ id: DocumentID) throws -> [NamedVersion] {
    let reply = try one(.versions(id: id))
    guard case .versions(let versions) = reply else { throw unexpected(reply, "versions") }
    return versions
  }

  func save(_ version: NamedVersion, in id: DocumentID) throws {
    try done(Self.saving(version, in: id))
  }

  /// Returns the request to name a revision.
  static func saving(
    _ version: NamedVersion, in id: DocumentID, epoch: Epoch = epoch
  ) -> StoreRequest {
    .saveVersion(id: id, epoch: epoch, version: version)
  }

  func compact(_ id: DocumentID, through: Int) throws {
    try done(.compact(id: id, through: through))
  }

  func list() throws -> [NoteSummary] {
    let reply = try one(.list)
    guard case .notes(let notes) = reply else { throw unexpected(reply, "notes") }
    return notes
  }

  func done(_ request: StoreRequest) throws { try done(one(request)) }

  func error(_ request: StoreRequest) throws -> StoreError { try error(one(request)) }

  // MARK: Replies

  func note(_ reply: StoreReply) throws -> NoteSummary {
    guard case .note(let summary) = reply else { throw unexpected(reply, "a note") }
    return summary
  }

  func lostRace(_ reply: StoreReply) throws -> [LogEntry] {
    guard case .lostRace(let entries, _) = reply else { throw unexpected(reply, "a lost race") }
    return entries
  }
}

/// A rig that extracts the expected contents of replies.
protocol ReplyReader {}

extension ReplyReader {
  func done(_ reply: StoreReply) throws {
    guard case .done = reply else { throw unexpected(reply, "done") }
  }

  func error(_ reply: StoreReply) throws -> StoreError {
    guard let error = reply.failure else { throw unexpected(reply, "a failure") }
    return error
  }
}

/// Returns a failure for a reply of an unexpected kind.
func unexpected(_ reply: some Any, _ expected: String) -> ConformanceFailure {
  ConformanceFailure("expected \(expected), but the reply was \(reply)")
}

/// Throws if the condition is false.
func require(_ condition: Bool, _ expected: @autoclosure () -> String) throws {
  guard condition else { throw ConformanceFailure("expected \(expected())") }
}

/// Throws if the values differ.
func expect<Value: Equatable>(_ found: Value, _ expected: Value, _ what: String) throws {
  guard found == expected else {
    throw ConformanceFailure("\(what): expected \(expected), found \(found)")
  }
}

/// Throws if the documents differ. Texts are compared byte by byte.
func expect(_ found: StoredDocument, _ expected: StoredDocument) throws {
  try expect(text: found.text, expected.text, "the text")
  try expect(found.content, expected.content, "the content")
  try expect(found.summary, expected.summary, "the summary")
  try expect(found.epoch, expected.epoch, "the epoch")
  try expect(found.recent, expected.recent, "the entries")
  try expect(found.marks, expected.marks, "the marks")
}

/// Throws if the texts differ byte by byte; `==` treats canonically equivalent texts as equal.
func expect(text found: String, _ expected: String, _ what: String) throws {
  guard found.isExactly(expected) else {
    throw ConformanceFailure(
      "\(what): expected \(Array(expected.utf8)), found \(Array(found.utf8))")
  }
}

/// Creates an operation in a short notation: positive numbers retain, negative numbers delete.
func op(_ components: OperationPiece...) -> TextOperation {
  var operation = TextOperation()
  for component in components {
    switch component {
    case .number(let count) where count < 0: operation.delete(-count)
    case .number(let count): operation.retain(count)
    case .text(let text): operation.insert(text)
    }
  }
  return operation
}

/// A component of an operation, written as a literal.
enum OperationPiece: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
  case number(Int)
  case text(String)

  init(integerLiteral value: Int) { self = .number(value) }
  init(stringLiteral value: String) { self = .text(value) }
}

/// Creates an entry whose digest and time depend only on its revision.
func entry(
  _ revision: Int, _ operation: TextOperation, client: String = "ann", sequence: Int? = nil
) -> LogEntry {
  LogEntry(
    revision: revision, client: client, sequence: sequence ?? revision,
    digest: 0xfedc_ba98_7654_3210 &+ UInt64(revision), operation: operation, author: "Ann Ä. 🐦",
    time: 2_000 + Timestamp(revision))
}
