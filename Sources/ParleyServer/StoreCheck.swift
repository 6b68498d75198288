package import GatewayPorts
import OTCore
import StoreSQLite

/// Reads all of a store and says whether it is what was once written.
///
/// Every entry of every log is read, which verifies its checksum and its place in the chain; a log
/// that reaches back to the empty text is replayed, and has to give the text that clients get.
package struct StoreCheck {
  /// What was found.
  package struct Findings: Equatable {
    /// Notes in the store.
    package var notes = 0
    /// Entries of their logs.
    package var entries = 0
    /// What is wrong, in words, by note.
    package var problems: [String] = []

    package init(notes: Int = 0, entries: Int = 0, problems: [String] = []) {
      self.notes = notes
      self.entries = entries
      self.problems = problems
    }
  }

  /// What became of the check.
  package enum Outcome {
    /// There is no store yet.
    case none
    /// A server has it open, and looks after it.
    case inUse(process: Int?)
    /// It was read.
    case read(Findings)
    /// It could not be opened.
    case notOpened(String)
  }

  /// Looks at the store of a configuration, without making one.
  package static func run(_ configuration: Configuration) -> Outcome {
    guard Files.isFile(configuration.storePath) else { return .none }
    do throws(StoreOpenError) {
      return .read(check(try SQLiteStore(path: configuration.storePath)))
    } catch {
      if case .inUse(_, let process) = error { return .inUse(process: process) }
      return .notOpened(error.description)
    }
  }

  private static let entriesAtOnce = 1_000

  /// Reads a whole store.
  package static func check(_ store: any DocumentStore) -> Findings {
    var findings = Findings()
    switch store.perform([.list]).first {
    case .notes(let notes)?:
      findings.notes = notes.count
      for note in notes { check(note, in: store, &findings) }
    case .failed(let error)?: findings.problems.append("the list of notes: \(error)")
    case .done?, .note?, .document?, .entries?, .text?, .history?, .versions?, nil:
      preconditionFailure("a store answers a request for notes with notes")
    }
    return findings
  }

  private static func check(
    _ note: NoteSummary, in store: any DocumentStore, _ findings: inout Findings
  ) {
    guard case .document(let stored)? = store.perform([.load(id: note.id, recentMax: 0)]).first
    else {
      findings.problems.append("note \(note.id): its text cannot be read")
      return
    }
    var replayed: Document? = Document()
    var revision = 0
    while revision < stored.summary.revision {
      let through = min(revision + entriesAtOnce, stored.summary.revision)
      switch store.perform([.entries(id: note.id, after: revision, through: through)]).first {
      case .entries(let entries)?:
        for entry in entries {
          revision += 1
          guard entry.revision == revision else {
            findings.problems.append("note \(note.id): revision \(revision) is missing")
            return
          }
          do throws(OperationError) {
            try replayed?.apply(entry.operation)
          } catch {
            findings.problems.append("note \(note.id): revision \(revision) does not fit: \(error)")
            return
          }
        }
        guard revision == through else {
          findings.problems.append("note \(note.id): revision \(revision + 1) is missing")
          return
        }
        findings.entries += entries.count
      case .failed(.compacted(let oldest))? where oldest - 1 > revision:
        revision = oldest - 1
        replayed = nil
      case .failed(let error)?:
        findings.problems.append("note \(note.id), after revision \(revision): \(error)")
        return
      case .done?, .note?, .notes?, .document?, .text?, .history?, .versions?, nil:
        preconditionFailure("a store answers a request for entries with entries")
      }
    }
    if let replayed, !replayed.text.utf8.elementsEqual(stored.text.utf8) {
      findings.problems.append("note \(note.id): its log and its text differ")
    }
  }
}
