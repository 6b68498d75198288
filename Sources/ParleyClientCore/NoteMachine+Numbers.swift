import OTCore
import SocketMessages

// Changes with numbers in place of ids.

/// The numbers of a note and its authors, as the server has given them on this connection.
struct NoteNumbers: Sendable {
  /// The document's number.
  let document: Int
  /// The time from which times are counted.
  private let time: Int64
  /// The authors, those who were given a number last: the server uses no others.
  private var authors: [ServerMessage.Author] = []

  init(_ numbers: ServerMessage.Numbers) {
    document = numbers.document
    time = numbers.time
    add(numbers.authors)
  }

  /// Takes authors who have a number from now on.
  mutating func add(_ more: [ServerMessage.Author]) {
    for author in more.suffix(ServerMessage.Author.numbersMax) {
      authors.removeAll { $0.number == author.number }
      authors.append(author)
    }
    authors.removeFirst(max(0, authors.count - ServerMessage.Author.numbersMax))
  }

  /// The changes with ids; `nil` if a number in them stands for nobody.
  func changes(
    _ run: ServerMessage.NumberedChanges.Run, of documentID: String
  ) -> ServerMessage.Changes? {
    var changes: [ServerMessage.Change] = []
    changes.reserveCapacity(run.changes.count)
    for change in run.changes {
      guard let author = authors.last(where: { $0.number == change.author }) else { return nil }
      changes.append(
        .init(
          clientID: author.clientID, sequence: change.sequence, operation: change.operation))
    }
    let (sum, overflow) = time.addingReportingOverflow(run.time)
    return ServerMessage.Changes(
      documentID: documentID, revision: run.revision, changes: changes, time: overflow ? nil : sum)
  }
}

extension NoteMachine {
  /// Changes come with numbers. A number that stands for nobody means that a message got lost, or that
  /// one side is wrong: joining again lists the numbers anew.
  mutating func changes(_ numbered: ServerMessage.NumberedChanges, _ turn: inout Turn) {
    numbers?.add(numbered.authors)
    // Until a join is answered, the answer will hold all of this again, and the numbers.
    guard phase == .live else { return }
    guard let changes = numbers?.changes(numbered.run, of: documentID) else {
      recover(&turn)
      tellStatus(&turn)
      return
    }
    self.changes(changes, &turn)
  }
}
