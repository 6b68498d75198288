import ParleyGatewayPorts
import ParleyJSON

/// The person of an identity, and its expiry.
extension Identity {
  /// The user that others see as the author of a request; `nil` if the request has no user.
  var person: PersonID? { isGuest || user.isEmpty ? nil : PersonID(user) }

  /// Returns the subject of a resume token: a client's id and its owner.
  func resumeSubject(of client: String) -> String {
    // The length makes the text unambiguous: no two pairs share one.
    user.isEmpty ? client : "user \(user.utf8.count) \(user) \(client)"
  }

  func isExpired(at now: Timestamp) -> Bool { expiresAt.map { $0 <= now } ?? false }

  func isSamePerson(as other: Identity?) -> Bool {
    guard let other else { return false }
    return isGuest == other.isGuest && user.isExactly(other.user)
  }

  /// Returns the rights to a note, whose folder and creation time are known.
  func verbs(on note: NoteSummary) -> Verbs {
    verbs(onNote: note.id, in: note.folder, madeAt: note.createdAt)
  }

  func may(_ verbs: Verbs, _ note: NoteSummary) -> Bool {
    self.verbs(on: note).isSuperset(of: verbs)
  }

  /// Whether the caller may learn that a note with a requested id already exists.
  func mayLearnExistence(_ note: NoteSummary) -> Bool {
    !verbs(on: note).isDisjoint(with: [.read, .manage])
  }
}
