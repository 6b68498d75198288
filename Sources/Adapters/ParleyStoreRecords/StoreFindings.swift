public import ParleyGatewayPorts

/// The result of reading and verifying a whole store.
public struct StoreFindings: Sendable, Equatable {
  /// A record that differs from the written one.
  public struct Problem: Sendable, Equatable, CustomStringConvertible {
    /// The affected document; `nil` for the store as a whole.
    public var document: DocumentID?
    /// The problem and its remedy. Contains no user's text.
    public var description: String
  }

  /// The number of notes, including those whose own record is damaged.
  public var notes = 0
  /// The number of log entries that were read and verified.
  public var entries = 0
  /// The number of snapshots that were compared with the fold of their log.
  public var snapshots = 0
  /// The number of named versions.
  public var versions = 0
  /// The number of publications in rooms.
  public var publications = 0
  /// The number of distinct contents of files.
  public var files = 0
  /// The number of comments on notes.
  public var comments = 0
  /// The problems found; empty for a sound store.
  public var problems: [Problem] = []

  /// Creates empty findings.
  public init() {}

  /// Adds the findings of a part, except for its number of notes, which the caller counts.
  package mutating func add(_ part: StoreFindings) {
    entries += part.entries
    snapshots += part.snapshots
    versions += part.versions
    publications += part.publications
    files += part.files
    comments += part.comments
    problems += part.problems
  }

  package mutating func add(_ document: DocumentID?, _ description: String) {
    problems.append(Problem(document: document, description: description))
  }

  /// Counts and verifies the comments of a note, which must lie within its log and its threads.
  package mutating func checkComments(_ all: [Comment], of row: DocumentRow) {
    comments += all.count
    let first = Set(all.lazy.filter { $0.thread == nil }.map { ExactName($0.id) })
    for comment in all {
      if let thread = comment.thread, !first.contains(ExactName(thread)) {
        add(row.id, "a comment answers one that is not there; \(damageAdvice)")
      }
      // An anchor may be before the base: programs without comments compact without moving anchors.
      if let anchor = comment.anchor, !anchor.isDeleted, anchor.revision > row.revision {
        add(row.id, "a comment names a revision that the log does not have; \(damageAdvice)")
      }
    }
  }

  package mutating func add(_ document: DocumentID?, _ error: StoreError) {
    switch error {
    case .damaged(let words), .unavailable(let words), .refused(let words),
      .unknownOutcome(let words):
      add(document, words)
    case .unknownDocument, .exists, .notNext, .compacted, .fenced, .answeredElsewhere, .outOfReach,
      .cancelled:
      add(document, "unreadable: \(error)")
    }
  }
}
