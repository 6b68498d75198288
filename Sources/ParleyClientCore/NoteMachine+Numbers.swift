import OTCore
import SocketMessages

// Changes with numbers instead of ids.

/// The numbers of a note and its authors, as assigned by the server on this connection.
struct NoteNumbers: Sendable {
  /// The document's number.
  let document: Int
  /// The time that times are relative to, in milliseconds since 1970.
  private let time: Int64
  /// The authors sorted by number, the newest last. The server uses only these.
  private var authors: [ServerMessage.Author] = []

  init(_ numbers: ServerMessage.Numbers) {
    document = numbers.document
    time = numbers.time
    add(numbers.authors)
  }

  /// Adds authors with newly assigned numbers.
  ///
  /// - Complexity: O(*n*) new authors, because they have the highest numbers; dropping the oldest
  ///   is O(1) amortized.
  mutating func add(_ more: [ServerMessage.Author]) {
    let most = ServerMessage.Author.numbersMax
    for author in more.suffix(most) {
      let place = place(of: author.number)
      if place < authors.count, authors[place].number == author.number {
        authors[place] = author
      } else {
        authors.insert(author, at: place)
      }
    }
    if authors.count >= 2 * most { authors.removeFirst(authors.count - most) }
  }

  /// Returns the index of the first author with this number or a higher one.
  private func place(of number: Int) -> Int {
    var (low, high) = (0, authors.count)
    if let last = authors.last, last.number < number { return high }
    while low < high {
      let middle = (low + high) / 2
      if authors[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the changes with client ids; `nil` if a number has no author.
  func changes(
    _ run: ServerMessage.NumberedChanges.Run, of documentID: String
  ) -> ServerMessage.Changes? {
    var changes: [ServerMessage.Change] = []
    changes.reserveCapacity(run.changes.count)
    for change in run.changes {
      let place = place(of: change.author)
      guard place < authors.count, authors[place].number == change.author else { return nil }
      let author = authors[place]
      changes.append(
        .init(
          clientID: author.clientID, sequence: change.sequence, operation: change.operation,
          format: change.format))
    }
    let (sum, overflow) = time.addingReportingOverflow(run.time)
    return ServerMessage.Changes(
      documentID: documentID, revision: run.revision, changes: changes, time: overflow ? nil : sum)
  }
}

extension NoteMachine {
  /// Handles changes with numbers. If a number has no author, a message was lost or one side is
  /// wrong; the reply to another join lists all numbers.
  mutating func changes(_ numbered: ServerMessage.NumberedChanges, _ turn: inout Turn) {
    numbers?.add(numbered.authors)
    // Before a join is answered, changes are ignored: the answer will contain them and the numbers.
    guard phase == .live else { return }
    guard let changes = numbers?.changes(numbered.run, of: documentID) else {
      recover(&turn)
      tellStatus(&turn)
      return
    }
    self.changes(changes, &turn)
  }
}
