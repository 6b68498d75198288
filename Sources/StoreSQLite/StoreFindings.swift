public import GatewayPorts

/// What reading all of a store has shown.
public struct StoreFindings: Sendable, Equatable {
  /// Something that is not as it was written.
  public struct Problem: Sendable, Equatable, CustomStringConvertible {
    /// The document it is about, `nil` for the store as a whole.
    public var document: DocumentID?
    /// What is wrong and what to do, without anybody's text.
    public var description: String
  }

  /// How many notes there are, those included whose own record is damaged.
  public var notes = 0
  /// How many entries of logs were read and verified.
  public var entries = 0
  /// How many snapshots were compared with the fold of their log.
  public var snapshots = 0
  /// How many named versions there are.
  public var versions = 0
  /// How many publications of rooms there are.
  public var publications = 0
  /// What is wrong; empty for a sound store.
  public var problems: [Problem] = []

  /// Findings of nothing yet.
  public init() {}

  mutating func add(_ document: DocumentID?, _ description: String) {
    problems.append(Problem(document: document, description: description))
  }

  mutating func add(_ document: DocumentID?, _ error: StoreError) {
    switch error {
    case .damaged(let words), .unavailable(let words): add(document, words)
    case .unknownDocument, .exists, .notNext, .compacted: add(document, "unreadable: \(error)")
    }
  }
}
