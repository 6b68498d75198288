package import ParleyGatewayPorts

/// The places of all sessions of Socket.IO and Bayeux, shared among users and addresses.
///
/// A session is *unidentified* until its client shows a token. Unidentified sessions have a quarter of all places, which
/// the addresses share (``FairShares``). Once its client has shown a token, a session counts towards its user's share of
/// all places instead:
///
///     enter ─▶ unidentified ── identify ─▶ identified ─▶ leave
///                  └── leave: ended, expired, or replaced by a newcomer
///
/// When no place is free, a newcomer replaces the oldest unidentified session of the stranger with most of them. An
/// identified session is never replaced.
package struct SessionPlaces: Sendable {
  /// Why a session gets no place.
  package enum Refusal: String, Sendable {
    /// All places that it could have are taken.
    case full
    /// Its user or address has as many places as remain for all others.
    case share
  }

  /// A decision on a newcomer.
  package enum Decision: Hashable, Sendable {
    /// A place is free.
    case enter
    /// A place is free once this session has ended.
    case replace(ConnectionID)
    /// No place is free.
    case refuse(Refusal)
  }

  /// The stranger of a place; `nil` for an address without limits, whose sessions are counted together.
  private struct Holder: Hashable, Sendable { let stranger: Stranger? }

  private struct Place: Sendable {
    let address: IPAddress?
    var holder: Holder
    var isIdentified: Bool
  }

  /// The share of all places that unidentified sessions can have: one of so many.
  private static let unidentifiedFraction = 4

  private let capacity: Int
  private var places: [ConnectionID: Place] = [:]
  private var unidentified: FairShares<Stranger>
  private var identified: FairShares<Stranger>
  private var replaceable = HolderQueues<Holder, ConnectionID>()

  /// Creates free places.
  package init(capacity: Int) {
    self.capacity = capacity
    unidentified = FairShares(capacity: max(1, capacity / Self.unidentifiedFraction))
    identified = FairShares(capacity: capacity)
  }

  /// The number of sessions.
  package var count: Int { places.count }

  /// The number of sessions whose clients have not shown a token.
  package var unidentifiedCount: Int { unidentified.held }

  /// Returns whether a session's client has shown a token.
  package func isIdentified(_ id: ConnectionID) -> Bool { places[id]?.isIdentified ?? false }

  // MARK: Newcomers

  /// Decides on a session from an address.
  ///
  /// - Parameter isIdentified: Whether it counts as identified from the start, as where no token is asked for.
  /// - Complexity: O(1).
  package func decision(for address: IPAddress?, isIdentified: Bool) -> Decision {
    let stranger = Stranger(address: address)
    let refusal =
      isIdentified
      ? identified.refusal(of: 1, for: stranger) : unidentified.refusal(of: 1, for: stranger)
    switch refusal {
    case .overShare: return .refuse(.share)
    case .full where isIdentified: return .refuse(.full)
    case nil where count < capacity: return .enter
    case .full, nil: break
    }
    // A stranger replaces sessions of those that have more. Where even the fair shares are used up, that is a stranger
    // without any.
    let own = replaceable.count(of: Holder(stranger: stranger))
    guard replaceable.largestCount > own, refusal == nil || own == 0,
      let oldest = replaceable.oldestOfLargest
    else { return .refuse(.full) }
    return .replace(oldest.element)
  }

  /// Gives a session a place.
  ///
  /// - Precondition: The decision for its address is ``Decision/enter``, and it has no place yet.
  /// - Complexity: O(1).
  package mutating func enter(_ id: ConnectionID, from address: IPAddress?, isIdentified: Bool) {
    precondition(places[id] == nil, "the session has a place already")
    let holder = Holder(stranger: Stranger(address: address))
    let refusal =
      isIdentified
      ? identified.take(1, for: holder.stranger) : unidentified.take(1, for: holder.stranger)
    precondition(refusal == nil, "no place is free")
    if !isIdentified { replaceable.append(id, of: holder) }
    places[id] = Place(address: address, holder: holder, isIdentified: isIdentified)
  }

  // MARK: Tokens

  /// Counts a session towards the user whose token its client has shown; does nothing if it does already.
  ///
  /// - Parameter identity: The token's identity.
  /// - Returns: Why the user can have no further session now; the session then counts as before.
  /// - Complexity: O(1).
  package mutating func identify(_ id: ConnectionID, as identity: Identity) -> Refusal? {
    guard let place = places[id] else { return .full }
    let holder = Holder(stranger: Stranger(identity, from: place.address))
    guard !place.isIdentified || place.holder != holder else { return nil }
    // The new place is taken first: a user over its share would not get the former one back.
    if let refusal = identified.take(1, for: holder.stranger) { return Refusal(refusal) }
    give(id, place)
    places[id] = Place(address: place.address, holder: holder, isIdentified: true)
    return nil
  }

  /// Gives one session's place to another, which has none.
  ///
  /// - Complexity: O(1).
  package mutating func move(from old: ConnectionID, to new: ConnectionID) {
    precondition(places[new] == nil, "the session has a place already")
    guard let place = places.removeValue(forKey: old) else { return }
    places[new] = place
    guard !place.isIdentified else { return }
    replaceable.remove(old, of: place.holder)
    replaceable.append(new, of: place.holder)
  }

  /// Frees a session's place, if it has one.
  ///
  /// - Complexity: O(1).
  package mutating func leave(_ id: ConnectionID) {
    guard let place = places.removeValue(forKey: id) else { return }
    give(id, place)
  }

  private mutating func give(_ id: ConnectionID, _ place: Place) {
    guard !place.isIdentified else { return identified.give(1, for: place.holder.stranger) }
    unidentified.give(1, for: place.holder.stranger)
    replaceable.remove(id, of: place.holder)
  }
}

extension SessionPlaces.Refusal {
  fileprivate init(_ refusal: FairShares<Stranger>.Refusal) {
    switch refusal {
    case .full: self = .full
    case .overShare: self = .share
    }
  }
}
