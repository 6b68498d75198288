/// The name of a piece of work at the store.
public struct StoreTicket: Hashable, Sendable {
  let rawValue: UInt64

  /// Makes a name; the caller keeps names distinct.
  package init(rawValue: UInt64) { self.rawValue = rawValue }
}
