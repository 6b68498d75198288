import GatewayPorts
import OTCore

/// What must hold once everything has healed.
extension Simulation {
  func check() throws(Violation) {
    for id in Set(seats.map(\.documentID)) {
      guard let log = store.log(of: id) else { throw violation("\(id) is gone") }
      try checkLog(log, of: id)
      let text = try fold(log, of: id)
      guard text == store.document(id) else {
        throw violation("\(id) is not the fold of its log")
      }
      for (index, seat) in seats.enumerated() where seat.documentID == id {
        guard seat.client.document == text else {
          throw violation("client \(index) has another text than the log of \(id)")
        }
        try checkSightings(of: seat.client, index, in: log)
      }
    }
  }

  /// Revisions without a gap; of each client, each number once, in order, from 1.
  private func checkLog(_ log: [LogEntry], of id: DocumentID) throws(Violation) {
    var last: [String: Int] = [:]
    for (index, entry) in log.enumerated() {
      guard entry.revision == index + 1 else {
        throw violation("\(id): revision \(entry.revision) stands at place \(index + 1)")
      }
      guard entry.sequence == last[entry.client, default: 0] + 1 else {
        throw violation(
          "\(id): \(entry.client) has \(entry.sequence) after \(last[entry.client, default: 0])")
      }
      last[entry.client] = entry.sequence
    }
  }

  private func fold(_ log: [LogEntry], of id: DocumentID) throws(Violation) -> Document {
    var document = Document()
    for entry in log {
      do throws(OperationError) {
        try document.apply(entry.operation)
      } catch {
        throw violation("\(id): revision \(entry.revision) does not apply: \(error)")
      }
    }
    return document
  }

  /// Whatever a client was shown or promised is in the log, at that revision.
  private func checkSightings(
    of client: Client, _ index: Int, in log: [LogEntry]
  ) throws(Violation) {
    // What a lying disk forgot was seen before; another epoch tells the clients.
    guard case .native(let twin) = client, !hasLostTail else { return }
    for sighting in twin.sightings {
      guard log.indices.contains(sighting.revision - 1) else {
        throw violation("client \(index) saw revision \(sighting.revision), which is not there")
      }
      let entry = log[sighting.revision - 1]
      guard entry.client == sighting.client, entry.sequence == sighting.sequence else {
        throw violation("client \(index) saw another change as revision \(sighting.revision)")
      }
    }
  }

  private func violation(_ what: String) -> Violation { Violation(seed: seed, what: what) }
}
