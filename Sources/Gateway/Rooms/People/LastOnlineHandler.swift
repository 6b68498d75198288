public import ParleyGatewayPorts

/// Records when people were last online.
public protocol LastOnlineHandler: AnyObject {
  /// Records that a person's last connection has ended.
  func ended(_ person: PersonID, at time: Timestamp, store: any PeopleStore)
  /// Records that people are connected. Called periodically, so that a crash loses no more than one
  /// period.
  func seen(_ people: [PersonID], at time: Timestamp, store: any PeopleStore)
  /// Returns when people were last online, in the order of `people`.
  func times(
    of people: [PersonID], store: any PeopleStore,
    then proceed: @escaping (Result<[Timestamp?], StoreError>) -> Void)
}

extension LastOnlineHandler {
  /// Records nothing.
  public func seen(_ people: [PersonID], at time: Timestamp, store: any PeopleStore) {}
}

/// Last-online times in the gateway's own store.
public final class StoredLastOnline: LastOnlineHandler {
  /// Creates a handler.
  public init() {}

  /// See ``LastOnlineHandler``.
  public func ended(_ person: PersonID, at time: Timestamp, store: any PeopleStore) {
    // If the write fails, an older time remains. No caller waits for the result.
    store.perform(.online([person], time)) { _ in }
  }

  /// See ``LastOnlineHandler``.
  public func seen(_ people: [PersonID], at time: Timestamp, store: any PeopleStore) {
    store.perform(.online(people, time)) { _ in }
  }

  /// See ``LastOnlineHandler``.
  public func times(
    of people: [PersonID], store: any PeopleStore,
    then proceed: @escaping (Result<[Timestamp?], StoreError>) -> Void
  ) {
    store.perform(.lastOnline(people)) { reply in
      proceed(reply.outcome { if case .lastOnline(let times) = $0 { times } else { nil } })
    }
  }
}
