package import ParleyGatewayPorts

/// The slots of all Socket.IO and Bayeux sessions, shared among users and addresses.
///
/// A session is *unidentified* until its client shows a token. Unidentified sessions have a quarter
/// of all slots, shared by address (``FairShares``). After its client shows a token, a session
/// counts towards the user's share of all slots instead:
///
///     enter ─▶ unidentified ── identify ─▶ identified ─▶ leave
///                  └── leave: ended, expired, or replaced by a new session
///
/// Without a free slot, a new session replaces the oldest unidentified session of the party with
/// the most unidentified sessions. An identified session is never replaced.
package struct SessionSlots: Sendable {
  /// The reason that a session gets no slot.
  package enum Refusal: String, Sendable {
    /// All slots available to the session are taken.
    case full
    /// The user or address already has as many slots as remain for all others.
    case share
  }

  /// The decision on a new session.
  package enum Decision: Hashable, Sendable {
    /// A slot is free.
    case enter
    /// A slot is free after this session has ended.
    case replace(ConnectionID)
    /// No slot is free.
    case refuse(Refusal)
  }

  /// The party of a slot; `nil` for all addresses without limits together.
  private struct Holder: Hashable, Sendable { let limitedClient: LimitedClient? }

  private struct Slot: Sendable {
    let address: IPAddress?
    var holder: Holder
    var isIdentified: Bool
  }

  /// The divisor of the capacity that gives the slots of unidentified sessions.
  private static let unidentifiedFraction = 4

  private let capacity: Int
  private var slots: [ConnectionID: Slot] = [:]
  private var unidentified: FairShares<LimitedClient>
  private var identified: FairShares<LimitedClient>
  private var replaceable = HolderQueues<Holder, ConnectionID>()

  /// Creates a table with all slots free.
  package init(capacity: Int) {
    self.capacity = capacity
    unidentified = FairShares(capacity: max(1, capacity / Self.unidentifiedFraction))
    identified = FairShares(capacity: capacity)
  }

  /// The number of sessions.
  package var count: Int { slots.count }

  /// The number of sessions whose clients have not shown a token.
  package var unidentifiedCount: Int { unidentified.held }

  /// Returns whether a session's client has shown a token.
  package func isIdentified(_ id: ConnectionID) -> Bool { slots[id]?.isIdentified ?? false }

  // MARK: Newcomers

  /// Decides on a new session from an address.
  ///
  /// - Parameter isIdentified: Whether the session counts as identified from the start, because no
  ///   token is required.
  /// - Complexity: O(1).
  package func decision(for address: IPAddress?, isIdentified: Bool) -> Decision {
    let limitedClient = LimitedClient(address: address)
    let refusal =
      isIdentified
      ? identified.refusal(of: 1, for: limitedClient)
      : unidentified.refusal(of: 1, for: limitedClient)
    switch refusal {
    case .overShare: return .refuse(.share)
    case .full where isIdentified: return .refuse(.full)
    case nil where count < capacity: return .enter
    case .full, nil: break
    }
    // A session replaces one of a party with more unidentified sessions. When the unidentified
    // slots are full, only a party without unidentified sessions may replace one.
    let own = replaceable.count(of: Holder(limitedClient: limitedClient))
    guard replaceable.largestCount > own, refusal == nil || own == 0,
      let oldest = replaceable.oldestOfLargest
    else { return .refuse(.full) }
    return .replace(oldest.element)
  }

  /// Gives a session a slot.
  ///
  /// - Precondition: The decision for its address is ``Decision/enter``, and it has no slot yet.
  /// - Complexity: O(1).
  package mutating func enter(_ id: ConnectionID, from address: IPAddress?, isIdentified: Bool) {
    precondition(slots[id] == nil, "the session has a place already")
    let holder = Holder(limitedClient: LimitedClient(address: address))
    let refusal =
      isIdentified
      ? identified.take(1, for: holder.limitedClient)
      : unidentified.take(1, for: holder.limitedClient)
    precondition(refusal == nil, "no place is free")
    if !isIdentified { replaceable.append(id, of: holder) }
    slots[id] = Slot(address: address, holder: holder, isIdentified: isIdentified)
  }

  // MARK: Tokens

  /// Counts a session towards the user of its client's token; does nothing if it already does.
  ///
  /// - Parameter identity: The token's identity.
  /// - Returns: Why the user can have no further session now; the session then counts as before.
  /// - Complexity: O(1).
  package mutating func identify(_ id: ConnectionID, as identity: Identity) -> Refusal? {
    guard let slot = slots[id] else { return .full }
    let holder = Holder(limitedClient: LimitedClient(identity, from: slot.address))
    guard !slot.isIdentified || slot.holder != holder else { return nil }
    // Take the new slot before releasing the old one: a user over its share could not get it back.
    if let refusal = identified.take(1, for: holder.limitedClient) { return Refusal(refusal) }
    give(id, slot)
    slots[id] = Slot(address: slot.address, holder: holder, isIdentified: true)
    return nil
  }

  /// Moves one session's slot to another session, which has none.
  ///
  /// - Complexity: O(1).
  package mutating func move(from old: ConnectionID, to new: ConnectionID) {
    precondition(slots[new] == nil, "the session has a place already")
    guard let slot = slots.removeValue(forKey: old) else { return }
    slots[new] = slot
    guard !slot.isIdentified else { return }
    replaceable.remove(old, of: slot.holder)
    replaceable.append(new, of: slot.holder)
  }

  /// Frees a session's slot, if it has one.
  ///
  /// - Complexity: O(1).
  package mutating func leave(_ id: ConnectionID) {
    guard let slot = slots.removeValue(forKey: id) else { return }
    give(id, slot)
  }

  private mutating func give(_ id: ConnectionID, _ slot: Slot) {
    guard !slot.isIdentified else { return identified.give(1, for: slot.holder.limitedClient) }
    unidentified.give(1, for: slot.holder.limitedClient)
    replaceable.remove(id, of: slot.holder)
  }
}

extension SessionSlots.Refusal {
  fileprivate init(_ refusal: FairShares<LimitedClient>.Refusal) {
    switch refusal {
    case .full: self = .full
    case .overShare: self = .share
    }
  }
}
