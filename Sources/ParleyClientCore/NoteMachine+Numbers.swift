import OTCore
import SocketMessages

// Changes with numbers in place of ids.

/// The numbers of a note and its authors, as the server has given them on this connection.
struct NoteNumbers: Sendable {
  /// The document's number.
  let document: Int
  /// The time from which times are counted.
  private let time: Int64
  /// The authors in the order of their numbers, the most recent last: the server uses no others.
  private var authors: [ServerMessage.Author] = []

  init(_ numbers: ServerMessage.Numbers) {
    document = numbers.document
    time = numbers.time
    add(numbers.authors)
  }

  /// Takes authors who have a number from now on.
  ///
  /// - Complexity: O(*n*) of them, since they have the highest numbers, and O(1) amortized to drop the oldest.
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

  /// The place of the first author with this number or a higher one.
  private func place(of number: Int) -> Int {
    var (low, high) = (0, authors.count)
    if let last = authors.last, last.number < number { return high }
    while low < high {
      let middle = (low + high) / 2
      if authors[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The changes with ids; `nil` if a number in them has no author.
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
          clientID: author.clientID, sequence: change.sequence, operation: change.operation))
    }
    let (sum, overflow) = time.addingReportingOverflow(run.time)
    return ServerMessage.Changes(
      documentID: documentID, revision: run.revision, changes: changes, time: overflow ? nil : sum)
  }
}

extension NoteMachine {
  /// Changes come with numbers. A number without an author means that a message got lost, or that
  /// one side is wrong: the reply to another join lists all numbers.
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
