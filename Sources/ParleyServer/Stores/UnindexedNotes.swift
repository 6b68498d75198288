package import ParleyGatewayPorts

/// Edited notes that are indexed only after they have not been edited for a while.
///
///     edited ─▶ ……… 2 s without another edit, or 30 s in all ─▶ due
package struct UnindexedNotes {
  /// Milliseconds without an edit after which a note is due.
  package static let pause: Int64 = 2_000
  /// Maximum milliseconds until a note is due if edits continue.
  package static let waitMax: Int64 = 30_000
  /// Maximum waiting notes.
  package static let countMax = 100_000

  private struct Times {
    var first: Int64
    var last: Int64
  }

  private var times: [DocumentID: Times] = [:]
  /// The times at which notes are checked again, approximately in order.
  private var looks: [(at: Int64, id: DocumentID)] = []
  private var next = 0
  /// Whether notes were dropped because more than `countMax` were waiting.
  package private(set) var isOverfull = false

  /// Creates an empty set of notes.
  package init() {}

  /// The number of waiting notes.
  package var count: Int { times.count }

  /// Records an edit of a note.
  package mutating func edited(_ id: DocumentID, at now: Int64) {
    if let place = times.index(forKey: id) {
      times.values[place].last = now
      return
    }
    guard times.count < Self.countMax else {
      isOverfull = true
      return
    }
    times[id] = Times(first: now, last: now)
    looks.append((now + Self.pause, id))
  }

  /// Removes a note that need not be indexed.
  package mutating func forget(_ id: DocumentID) { times[id] = nil }

  /// Resets `isOverfull`.
  package mutating func settleOverfull() { isOverfull = false }

  /// The earliest time at which a note may be due; `nil` if no note waits.
  package var nextCheck: Int64? { next < looks.count ? looks[next].at : nil }

  /// Removes and returns a note that is due; `nil` if no note is due.
  ///
  /// - Complexity: O(1), amortised over the edits.
  package mutating func takeDue(at now: Int64) -> DocumentID? {
    while next < looks.count, looks[next].at <= now {
      let id = looks[next].id
      next += 1
      if next > 64, next * 2 > looks.count {
        looks.removeFirst(next)
        next = 0
      }
      guard let waiting = times[id] else { continue }
      let rests = min(waiting.last + Self.pause, waiting.first + Self.waitMax)
      guard rests <= now else {
        // Only approximately in order: the note may be checked later than it is due, by less than
        // `pause`.
        looks.append((rests, id))
        continue
      }
      times[id] = nil
      return id
    }
    return nil
  }
}
