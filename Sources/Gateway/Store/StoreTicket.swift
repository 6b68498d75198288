/// Identifies a piece of work at the store.
public struct StoreTicket: Hashable, Sendable {
  let rawValue: UInt64

  /// Creates an identifier. The caller ensures that it is unique.
  package init(rawValue: UInt64) { self.rawValue = rawValue }
}
