/// The name of a piece of work at the store.
public struct StoreTicket: Hashable, Sendable {
  let rawValue: UInt64

  /// Makes a name, which is the caller's to keep apart from others.
  package init(rawValue: UInt64) { self.rawValue = rawValue }
}
