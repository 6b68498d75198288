package import GatewayPorts

/// Notes that were edited and wait to be indexed, until they have not been edited for a while.
///
///     edited ─▶ ……… 2 s without another edit, or 30 s in all ─▶ due
package struct RestingNotes {
  /// Milliseconds without an edit after which a note rests.
  package static let pause: Int64 = 2_000
  /// Milliseconds after which a note is due although it is edited on and on.
  package static let waitMax: Int64 = 30_000
  /// Notes that may wait.
  package static let countMax = 100_000

  private struct Times {
    var first: Int64
    var last: Int64
  }

  private var times: [DocumentID: Times] = [:]
  /// The times at which notes are looked at again, the earliest first.
  private var looks: [(at: Int64, id: DocumentID)] = []
  private var next = 0
  /// Whether more notes were edited than may wait: some are known no longer.
  package private(set) var isOverfull = false

  /// Begins without notes.
  package init() {}

  /// The number of notes that wait.
  package var count: Int { times.count }

  /// A note was edited.
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

  /// Removes a note, which need not be indexed.
  package mutating func forget(_ id: DocumentID) { times[id] = nil }

  /// Forgets that there were too many.
  package mutating func settleOverfull() { isOverfull = false }

  /// The time at which a note may be due; `nil` if none waits.
  package var nextLook: Int64? { next < looks.count ? looks[next].at : nil }

  /// Removes and returns a note that is due; `nil` if there is none.
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
        // In order, but for some milliseconds: a note that is looked at later is due later by no
        // more.
        looks.append((rests, id))
        continue
      }
      times[id] = nil
      return id
    }
    return nil
  }
}
