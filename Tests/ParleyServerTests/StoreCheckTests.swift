import GatewayPorts
import OTCore
import ParleyServer
import Testing

@Suite("Checking a store")
struct StoreCheckTests {
  /// A store that says what it is told to say.
  private final class ScriptedStore: DocumentStore {
    var notes: [String: (stored: StoredDocument, entries: [LogEntry])] = [:]
    var base = 0

    func perform(_ batch: [StoreRequest]) -> [StoreReply] {
      batch.map { request in
        switch request {
        case .list: return .notes(notes.values.map(\.stored.summary))
        case .load(let id, _):
          return notes[id].map { .document($0.stored) } ?? .failed(.damaged("checksum"))
        case .entries(let id, let after, let through):
          if after < base { return .failed(.compacted(oldestRevision: base + 1)) }
          return .entries(
            (notes[id]?.entries ?? []).filter { $0.revision > after && $0.revision <= through })
        case .create, .rename, .delete, .append, .snapshot, .text, .history, .versions,
          .saveVersion, .deleteVersion, .renewEpoch, .compact:
          return .failed(.unavailable("no"))
        }
      }
    }

    /// A note to whose end one letter after the other was written.
    func add(_ id: String, revisions: Int, text: String? = nil) {
      let entries = (0..<revisions).map { length in
        var operation = TextOperation()
        operation.retain(length)
        operation.insert("x")
        return LogEntry(
          revision: length + 1, client: "c", sequence: length + 1, digest: 0,
          operation: operation, author: "", time: 0)
      }
      notes[id] = (
        StoredDocument(
          summary: NoteSummary(id: id, title: "", revision: revisions, createdAt: 0, updatedAt: 0),
          epoch: "e", text: text ?? String(repeating: "x", count: revisions), recent: [],
          marks: [:]),
        entries
      )
    }
  }

  @Test("a sound store is counted")
  func sound() {
    let store = ScriptedStore()
    store.add("empty", revisions: 0)
    store.add("long", revisions: 2_500)
    #expect(StoreCheck.check(store) == .init(notes: 2, entries: 2_500, problems: []))
  }

  @Test("a log that was compacted is read from where it begins")
  func compacted() {
    let store = ScriptedStore()
    store.add("long", revisions: 2_500)
    store.base = 1_500
    #expect(StoreCheck.check(store) == .init(notes: 1, entries: 1_000, problems: []))
  }

  @Test("a gap, another text, an operation that does not fit: each is told")
  func broken() {
    let store = ScriptedStore()
    store.add("gap", revisions: 5)
    store.notes["gap"]?.entries.remove(at: 2)
    store.add("end", revisions: 5)
    store.notes["end"]?.entries.removeLast()
    store.add("text", revisions: 5, text: "xxxxy")
    store.add("fit", revisions: 5)
    store.notes["fit"]?.entries[2].operation = .identity(length: 9)
    store.add("fine", revisions: 5)
    let findings = StoreCheck.check(store)
    #expect(findings.notes == 5)
    #expect(findings.problems.count == 4)
    for (note, word) in [
      ("gap", "revision 3 is missing"), ("end", "revision 5 is missing"), ("text", "differ"),
      ("fit", "revision 3 does not fit"),
    ] {
      #expect(
        findings.problems.contains { $0.contains("note \(note):") && $0.contains(word) }, "\(note)")
    }
  }
}
