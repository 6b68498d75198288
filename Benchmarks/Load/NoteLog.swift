import OTCore
import SocketMessages

/// A note as its readers know it: one log for all of them, since they receive the same, and how
/// many have reached each of its revisions.
///
/// So a reader costs a few additions for each message that it gets. What a thousand clients do on a thousand
/// machines is not this program's to do on one core, where it would be measured in place of the server.
struct NoteLog {
  let document: String
  private(set) var epoch = ""
  /// The revision at which all readers join.
  private var first = 0
  /// Scalars of the text at each revision, from the first one.
  private var lengths: [Int] = []
  /// The change that made each revision; `nil` as long as only its author knows it.
  private var operations: [TextOperation?] = []
  /// The times at which the edits of each change were typed; the first revision has none.
  private var typed: [[UInt64]] = []
  /// Readers whose latest revision is this one.
  private var readers: [Int] = []
  /// The latest revision that all readers have.
  private var everywhere = 0
  /// The authors by their numbers.
  private var authors: [Int: String] = [:]

  init(document: String) { self.document = document }

  /// The latest known revision.
  var last: Int { first + lengths.count - 1 }

  /// Changes that some readers have and others do not.
  var undelivered: Int { last - everywhere }

  /// Lets in a reader, which receives the text as it is; no one types before all have come.
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

  /// Reads changes with numbers in place of ids.
  mutating func changes(_ numbered: ServerMessage.NumberedChanges) -> ServerMessage.Changes {
    learn(numbered.authors)
    let changes = numbered.run.changes.map { change in
      guard let author = authors[change.author] else { fail("nobody has the number of an author") }
      return ServerMessage.Change(
        clientID: author, sequence: change.sequence, operation: change.operation)
    }
    return ServerMessage.Changes(
      documentID: document, revision: numbered.run.revision, changes: changes, time: nil)
  }

  func length(at revision: Int) -> Int { lengths[revision - first] }

  /// Adds the next revision, which a change under way has made.
  ///
  /// - Parameter operation: The change as others receive it; `nil` if its author was acknowledged
  ///   first.
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

  /// A change over all that came in between. Its author has received that, so all of it is known.
  private func rebased(_ change: ChangeUnderWay) -> TextOperation {
    guard change.deletes else { return change.operation }
    var operation = change.operation
    for revision in change.base + 1..<last + 1 {
      guard let other = operations[revision - first] else { fail("a change is not known") }
      do {
        operation = try TextOperation.transform(other, operation).1
      } catch {
        fail("client and server have parted: \(error)")
      }
    }
    return operation
  }

  /// Moves a reader on.
  ///
  /// - Parameter delivered: Called with the time at which each edit was typed that all readers have
  ///   from now on.
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
  /// The time at which each of the edits in it was typed.
  var typed: [UInt64]
  let sent: UInt64
  /// The revision that it was typed on.
  let base: Int
  let operation: TextOperation
  /// Whether it deletes anything, which another may have deleted at the same time.
  let deletes: Bool
  /// The revision that it has made, once it is known.
  var revision: Int?
}
