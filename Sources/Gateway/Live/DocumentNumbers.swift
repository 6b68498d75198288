package import ParleyGatewayPorts
package import SocketMessages

/// Numbers of a document and its authors in messages. All connections share them, so that a message
/// is encoded once for all clients that accept numbers.
///
/// Authors are numbered from 1, in the order in which they first write. The last `authorsMax`
/// authors have a number; an author whose number was dropped gets a new one.
package struct DocumentNumbers {
  /// The document's number.
  package let document: Int
  /// The base time: times in messages are relative to it.
  package let time: Timestamp
  /// The maximum authors with a number at one time.
  private let authorsMax: Int
  /// The authors with a number, in ascending order. Their numbers are consecutive.
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

  /// Returns the number of an author, and assigns one if necessary.
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

  /// Returns the authors with higher numbers.
  ///
  /// - Complexity: O(*n*) returned authors.
  package func authors(after number: Int) -> [ServerMessage.Author] {
    Array(authors.suffix(max(0, last - number)))
  }

  /// All numbers, as a joining client receives them.
  package var all: ServerMessage.Numbers {
    ServerMessage.Numbers(document: document, time: time, authors: Array(authors))
  }

  /// Whether a client that retains the newest `most` numbers retains all that may be used.
  package func areRetained(by most: Int) -> Bool { most >= usedMax }

  /// The maximum numbers in use: those assigned so far, up to `authorsMax`.
  package var usedMax: Int { min(last, authorsMax) }

  /// Returns changes with numbered authors.
  ///
  /// - Returns: `nil` if the entries have more authors than can have numbers at one time.
  package mutating func run(
    of entries: ArraySlice<LogEntry>
  ) -> ServerMessage.NumberedChanges.Run? {
    guard let first = entries.first, let last = entries.last else { return nil }
    if entries.count > authorsMax {
      var found: ExactSet = []
      for entry in entries { found.insert(entry.client) }
      guard found.count <= authorsMax else { return nil }
    }
    // A new number drops the oldest one, which may belong to an author of these entries.
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
