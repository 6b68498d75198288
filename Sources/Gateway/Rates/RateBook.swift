package import ParleyGatewayPorts

/// Usage of one rate limit per user, with a maximum number of users.
///
/// At the maximum, the user whose bucket is full soonest is evicted, and a new user inherits that
/// bucket. So users who have used up the rate remain limited. However many names are used, together
/// they draw no more than `countMax` buckets contain.
package struct RateBook {
  /// The time at which a user's bucket is full again, as of the entry's last update; later if the
  /// user drew since.
  private struct Place {
    var fullAt: Int64
    let name: ExactName
  }

  private var usages: [ExactName: TokenBucket] = [:]
  /// An entry for each user: a heap, earliest first.
  private var places: [Place] = []
  private let countMax: Int

  /// Creates an empty book.
  ///
  /// - Precondition: `countMax` is positive.
  package init(countMax: Int) {
    precondition(countMax > 0, "expected room for at least one user, not for \(countMax)")
    self.countMax = countMax
  }

  /// The number of users in the book.
  package var count: Int { usages.count }

  /// Draws from a user's bucket if it holds enough.
  ///
  /// - Returns: 0 on success; otherwise the milliseconds to wait, and nothing was drawn.
  /// - Complexity: O(1) for a user in the book; amortised O(log *n*) of *n* users for another.
  package mutating func draw(
    _ amount: Int, by user: String, at rate: Rate, now: Int64
  ) -> Int64 {
    let name = ExactName(user)
    if usages[name] != nil {
      return usages[name, default: TokenBucket()].draw(amount, at: rate, now: now)
    }
    let hasRoom = usages.count < countMax
    var bucket = hasRoom ? TokenBucket() : fullest(at: rate, now: now)
    let wait = bucket.draw(amount, at: rate, now: now)
    guard wait == 0 else { return wait }
    let place = Place(fullAt: Self.fullAt(bucket, at: rate, now: now), name: name)
    if hasRoom {
      places.append(place)
      moveUp(from: places.count - 1)
    } else {
      usages[places[0].name] = nil
      places[0] = place
      moveDown(from: 0)
    }
    usages[name] = bucket
    return 0
  }

  /// Returns the bucket that is full first, and moves its entry to the front.
  private mutating func fullest(at rate: Rate, now: Int64) -> TokenBucket {
    while true {
      let bucket = usages[places[0].name, default: TokenBucket()]
      let fullAt = Self.fullAt(bucket, at: rate, now: now)
      if fullAt <= max(places[0].fullAt, now) { return bucket }
      places[0].fullAt = fullAt
      moveDown(from: 0)
    }
  }

  private static func fullAt(_ bucket: TokenBucket, at rate: Rate, now: Int64) -> Int64 {
    now + bucket.wait(for: rate.burst, at: rate, now: now)
  }

  // MARK: The heap

  private mutating func moveUp(from start: Int) {
    var index = start
    while index > 0, places[index].fullAt < places[(index - 1) / 2].fullAt {
      places.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  private mutating func moveDown(from start: Int) {
    var index = start
    while true {
      let children = (2 * index + 1..<2 * index + 3).clamped(to: 0..<places.count)
      guard let least = children.min(by: { places[$0].fullAt < places[$1].fullAt }),
        places[least].fullAt < places[index].fullAt
      else { return }
      places.swapAt(index, least)
      index = least
    }
  }
}
