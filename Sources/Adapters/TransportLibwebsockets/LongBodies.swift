import Locks

/// An account of the bodies of requests that are longer than those of others, while they are read.
///
/// Such a body may take its client minutes to send, and is held in memory meanwhile: their lengths are
/// reserved before any of them is read. One person may reserve half of the room, and so leaves the rest to others.
package final class LongBodies: Sendable {
  /// The length of one body, given back when its owner lets go.
  package final class Reservation: Sendable {
    private let account: LongBodies
    private let byteCount: Int
    private let person: String

    fileprivate init(_ account: LongBodies, _ byteCount: Int, _ person: String) {
      self.account = account
      self.byteCount = byteCount
      self.person = person
    }

    deinit { account.held.withLock { $0.give(byteCount, of: person) } }
  }

  private struct Held {
    var byteCount = 0
    var byPerson: [String: Int] = [:]

    mutating func give(_ count: Int, of person: String) {
      byteCount -= count
      guard let own = byPerson[person] else { return }
      byPerson[person] = own > count ? own - count : nil
    }
  }

  private let byteCountMax: Int
  private let held = Locked(Held())

  /// Makes an account of none.
  package init(byteCountMax: Int) { self.byteCountMax = byteCountMax }

  /// Reserves room for a body; `nil` if there is not enough. One that is alone always finds room.
  ///
  /// - Parameter person: For whom it is read; nobody in particular if empty.
  package func reserve(_ byteCount: Int, for person: String) -> Reservation? {
    let isTaken = held.withLock { held in
      let own = held.byPerson[person, default: 0]
      guard held.byteCount == 0 || byteCount <= byteCountMax - held.byteCount,
        own == 0 || byteCount <= byteCountMax / 2 - own
      else { return false }
      held.byteCount += byteCount
      if !person.isEmpty { held.byPerson[person] = own + byteCount }
      return true
    }
    return isTaken ? Reservation(self, byteCount, person) : nil
  }
}
