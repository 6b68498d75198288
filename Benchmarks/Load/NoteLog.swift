import OTCore
import SocketMessages

/// A note's log as its readers receive it. One log serves all readers, since they receive the same;
/// the number of readers at each revision is counted.
///
/// A reader thus costs a few additions for each message. Applying the changes for a thousand
/// clients on one core would measure this program instead of the server.
struct NoteLog {
  let document: String
  private(set) var epoch = ""
  /// The revision at which all readers have joined.
  private var first = 0
  /// The scalars of the text at each revision from `first` on.
  private var lengths: [Int] = []
  /// The change of each revision; `nil` while only its author knows it.
  private var operations: [TextOperation?] = []
  /// The times at which the edits of each change were typed; empty for the first revision.
  private var typed: [[UInt64]] = []
  /// The number of readers whose latest revision is the one at this index.
  private var readers: [Int] = []
  /// The latest revision that all readers have.
  private var everywhere = 0
  /// The authors' client ids by their numbers.
  private var authors: [Int: String] = [:]

  init(document: String) { self.document = document }

  /// The latest known revision.
  var last: Int { first + lengths.count - 1 }

  /// The number of changes that have not reached all readers.
  var undelivered: Int { last - everywhere }

  /// Adds a reader, whose text is the current one. Typing begins after all have joined.
  mutating func join(_ joined: ServerMessage.Joined) -> Int {
    guard case .text(let text) = joined.content else { fail("a text was expected") }
    learn(joined.numbers?.authors ?? [])
    if lengths.isEmpty {
      (epoch, first, everywhere) = (joined.epoch, joined.revision, joined.revision)
      (lengths, operations) = ([text.unicodeScalars.count], [nil])
      (typed, readers) = ([[]], [0])
    }
    guard joined.revision == last else { fail("a note has changed before all had joined") }
    readers[joined.revision - first] += 1
    return joined.revision
  }

  private mutating func learn(_ authors: [ServerMessage.Author]) {
    for author in authors { self.authors[author.number] = author.clientID }
  }

  /// Returns changes with client ids instead of numbers.
  mutating func changes(_ numbered: ServerMessage.NumberedChanges) -> ServerMessage.Changes {
    learn(numbered.authors)
    let changes = numbered.run.changes.map { change in
      guard let author = authors[change.author] else { fail("unknown number of an author") }
      return ServerMessage.Change(
        clientID: author, sequence: change.sequence, operation: change.operation)
    }
    return ServerMessage.Changes(
      documentID: document, revision: numbered.run.revision, changes: changes, time: nil)
  }

  func length(at revision: Int) -> Int { lengths[revision - first] }

  /// Adds the next revision, which is the commit of a change in flight.
  ///
  /// - Parameter operation: The change as other clients receive it; `nil` if its author was
  ///   acknowledged first.
  mutating func append(_ change: ChangeUnderWay, as operation: TextOperation?) {
    let made = operation ?? rebased(change)
    lengths.append(lengths[lengths.count - 1] + made.targetLength - made.baseLength)
    operations.append(operation)
    typed.append(change.typed)
    readers.append(0)
  }

  /// Sets the operation of a change that only its author knew.
  mutating func learn(_ operation: TextOperation, at revision: Int) {
    operations[revision - first] = operation
  }

  /// Returns a change transformed over all changes since its base, which its author has received.
  private func rebased(_ change: ChangeUnderWay) -> TextOperation {
    guard change.deletes else { return change.operation }
    var operation = change.operation
    for revision in change.base + 1..<last + 1 {
      guard let other = operations[revision - first] else { fail("a change is not known") }
      do {
        operation = try TextOperation.transform(other, operation).1
      } catch {
        fail("client and server have diverged: \(error)")
      }
    }
    return operation
  }

  /// Moves a reader to a newer revision.
  ///
  /// - Parameter delivered: Called with the typing time of each edit that has now reached all
  ///   readers.
  mutating func move(from old: Int, to new: Int, _ delivered: (UInt64) -> Void) {
    readers[old - first] -= 1
    readers[new - first] += 1
    while everywhere < last, readers[everywhere - first] == 0 {
      everywhere += 1
      typed[everywhere - first].forEach(delivered)
      typed[everywhere - first] = []
    }
  }
}

/// An author's change that the server has not acknowledged.
struct ChangeUnderWay {
  /// The times at which the change's edits were typed.
  var typed: [UInt64]
  let sent: UInt64
  /// The revision that the change is based on.
  let base: Int
  let operation: TextOperation
  /// Whether the change deletes text, which another change may delete at the same time.
  let deletes: Bool
  /// The revision of the committed change; `nil` before it is known.
  var revision: Int?
}
