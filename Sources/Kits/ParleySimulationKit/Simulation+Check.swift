import ParleyGatewayPorts
import OTCore

/// Requirements that must hold after all faults are repaired.
extension Simulation {
  func check() throws(Violation) {
    for id in Set(seats.map(\.documentID)).sorted() {
      guard let log = store.log(of: id) else { throw violation("\(id) is gone") }
      try checkLog(log, of: id)
      let content = try fold(log, of: id)
      let text = content.text
      guard text == store.document(id) else {
        throw violation("\(id) is not the fold of its log")
      }
      for (index, seat) in seats.enumerated() where seat.documentID == id {
        guard seat.client.document == text else {
          throw violation("client \(index) has another text than the log of \(id)")
        }
        if case .native(let client) = seat.client, client.formats,
          client.content != content.document
        {
          throw violation("client \(index) has other formatting than the log of \(id)")
        }
        try checkSightings(of: seat.client, index, in: log, losses: store.lostEntries[id] ?? [])
      }
      try checkTyped(log, text, of: id)
    }
    try checkOwnNotes()
    // A client that has seen more on another node does not prove lost commits.
    if nodes.count > 1, lostTails == 0, tally[.epochRenewals] > 0 {
      throw violation("a history was given up of which nothing was lost")
    }
  }

  /// Verifies that notes created over the socket exist and were created once, unless the disk has
  /// lost commits.
  private func checkOwnNotes() throws(Violation) {
    let mayForget = plan.faults.contains(.loseTail)
    for case .native(let client) in seats.map(\.client) {
      guard let id = client.ownNote, client.notesMade != (0, 0) else { continue }
      if !mayForget, client.notesMade.created > 1 { throw violation("\(id) was made twice") }
      if !mayForget, store.log(of: DocumentID(id)) == nil { throw violation("\(id) is gone") }
    }
  }

  /// Verifies that revisions have no gaps, and that the changes of each numbering client are
  /// numbered in order from 1.
  private func checkLog(_ log: [LogEntry], of id: DocumentID) throws(Violation) {
    var last: [String: Int] = [:]
    for (index, entry) in log.enumerated() {
      guard entry.revision == index + 1 else {
        throw violation("\(id): revision \(entry.revision) is at place \(index + 1)")
      }
      if entry.sequence == 0, last[entry.client] == nil { continue }
      guard entry.sequence == last[entry.client, default: 0] + 1 else {
        throw violation(
          "\(id): \(entry.client) has \(entry.sequence) after \(last[entry.client, default: 0])")
      }
      last[entry.client] = entry.sequence
    }
  }

  /// Verifies that the text of a log is that of its operations without their formatting, and
  /// returns its last content.
  private func fold(_ log: [LogEntry], of id: DocumentID) throws(Violation) -> NoteContent {
    var content = NoteContent()
    var text = Document()
    for entry in log {
      do throws(OperationError) {
        try content.apply(entry.operation, entry.format)
        try text.apply(entry.operation)
      } catch {
        throw violation("\(id): revision \(entry.revision) does not apply: \(error)")
      }
    }
    guard content.text == text else {
      throw violation("\(id) has another text without its formatting")
    }
    return content
  }

  /// Verifies that everything a client has received or was acknowledged is in the log at the same
  /// revision. The only exceptions are entries that the disk has lost.
  private func checkSightings(
    of client: Client, _ index: Int, in log: [LogEntry], losses: [LogEntry]
  ) throws(Violation) {
    guard case .native(let client) = client else { return }
    for sighting in client.sightings {
      let revision = sighting.revision
      if log.indices.contains(revision - 1), Self.is(log[revision - 1], sighting) { continue }
      if losses.contains(where: { $0.revision == revision && Self.is($0, sighting) }) { continue }
      guard log.indices.contains(revision - 1) else {
        throw violation("client \(index) saw revision \(revision), which is not there")
      }
      throw violation("client \(index) saw another change as revision \(revision)")
    }
  }

  private static func `is`(_ entry: LogEntry, _ sighting: SimulatedClient.Sighting) -> Bool {
    entry.client == sighting.client && entry.sequence == sighting.sequence
      && (sighting.operation ?? entry.operation) == entry.operation
  }

  /// Verifies that typed text is in the log once, and in the text until it is deleted.
  ///
  /// A native client's text must never be lost, even after failed commits, refusals and merges. A
  /// Whaler client's text may be lost with its connection, but not after it was acknowledged.
  private func checkTyped(
    _ log: [LogEntry], _ text: Document, of id: DocumentID
  ) throws(Violation) {
    var inserted: [Int: Int] = [:]
    for mark in log.flatMap({ Marks.marks(in: $0.operation) }) { inserted[mark, default: 0] += 1 }
    let standing = Marks.marks(in: text.text)
    guard standing.count == Set(standing).count else {
      throw violation("typed text is in \(id) twice")
    }
    let lost = Set(
      (store.lostEntries[id] ?? []).flatMap { Marks.marks(in: $0.operation) })
    let acknowledged = Set(
      seats.flatMap { seat in
        if case .whaler(let client) = seat.client {
          client.acknowledged.flatMap(Marks.marks)
        } else {
          [Int]()
        }
      })
    let givenUp = Set(writers.flatMap { $0.givenUp.flatMap(Marks.marks) })
    let isStanding = Set(standing)
    for (mark, seat) in marks.seats.enumerated() where documentID(ofAuthor: seat) == id {
      let count = inserted[mark, default: 0]
      guard count <= 1 else { throw violation("what client \(seat) typed is in the log twice") }
      // The text was deleted by its author before it was sent, lost by the server's disk, or typed
      // too shortly before its author's process ended to be stored.
      let mayBeMissing =
        marks.deleted.contains(mark) || lost.contains(mark) || unkept.contains(mark)
      if count == 0, !mayBeMissing {
        guard seat < seats.count else {
          if givenUp.contains(mark) { continue }
          throw violation("what writer \(seat - seats.count) added is not in the log")
        }
        switch seats[seat].client {
        case .native: throw violation("what client \(seat) typed is not in the log")
        case .whaler where acknowledged.contains(mark):
          throw violation("what client \(seat) typed was acknowledged and is not in the log")
        case .whaler: break
        }
      }
      if count == 1, !isStanding.contains(mark), !marks.deleted.contains(mark) {
        throw violation("what client \(seat) typed was not deleted and is gone")
      }
    }
  }

  func violation(_ what: String) -> Violation { Violation(seed: seed, what: what) }
}
