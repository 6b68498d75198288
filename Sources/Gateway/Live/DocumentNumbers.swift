package import ParleyGatewayPorts
package import SocketMessages

/// The numbers that stand for a document and its authors in messages: the same for all connections, so that
/// a message is encoded once for all that take numbers.
///
/// Authors are numbered as they write, from 1. The last authors have a number, as many as clients keep; an
/// author whose number was dropped gets a new one.
package struct DocumentNumbers {
  /// The document's number.
  package let document: Int
  /// The time from which times are counted.
  package let time: Timestamp
  /// The most authors who have a number at one time.
  private let authorsMax: Int
  /// The authors who have a number, in the order of their numbers, which have no gap.
  package private(set) var authors: ArraySlice<ServerMessage.Author> = []
  /// The newest number.
  package private(set) var last = 0
  private var numbers: ExactDictionary<Int> = [:]

  package init(
    document: Int, time: Timestamp, authorsMax: Int = ServerMessage.Author.numbersMax
  ) {
    self.document = document
    self.time = time
    self.authorsMax = authorsMax
  }

  /// The number of an author, who gets one if need be.
  ///
  /// - Complexity: O(1).
  package mutating func number(of client: String) -> Int {
    if let known = numbers[client] { return known }
    if authors.count == authorsMax { numbers[authors.removeFirst().clientID] = nil }
    last += 1
    numbers[client] = last
    authors.append(.init(number: last, clientID: client))
    return last
  }

  /// The authors whose numbers are higher than one.
  ///
  /// - Complexity: O(*n*) of them.
  package func authors(after number: Int) -> [ServerMessage.Author] {
    Array(authors.suffix(max(0, last - number)))
  }

  /// All that a newcomer has to know.
  package var all: ServerMessage.Numbers {
    ServerMessage.Numbers(document: document, time: time, authors: Array(authors))
  }

  /// Whether a client that keeps a given number of the last numbers keeps all that may be used.
  package func areKept(by most: Int) -> Bool { most >= usedMax }

  /// The number of numbers that may be used: no more than were ever given, and than are kept.
  package var usedMax: Int { min(last, authorsMax) }

  /// Numbers the authors of changes.
  ///
  /// - Returns: `nil` if they have more authors than can have numbers at one time.
  package mutating func run(
    of entries: ArraySlice<LogEntry>
  ) -> ServerMessage.NumberedChanges.Run? {
    guard let first = entries.first, let last = entries.last else { return nil }
    if entries.count > authorsMax {
      var found: ExactSet = []
      for entry in entries { found.insert(entry.client) }
      guard found.count <= authorsMax else { return nil }
    }
    // A new number drops the oldest, which may belong to one of these authors.
    var before: Int
    repeat {
      before = self.last
      for entry in entries { _ = number(of: entry.client) }
    } while self.last != before
    var changes: [ServerMessage.NumberedChanges.Change] = []
    for entry in entries {
      changes.append(
        .init(
          author: number(of: entry.client), sequence: entry.sequence, operation: entry.operation))
    }
    return .init(
      document: document, revision: first.revision, time: last.time - time, changes: changes)
  }
}
