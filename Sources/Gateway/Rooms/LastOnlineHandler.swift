public import ParleyGatewayPorts

/// Knows when people were online last.
public protocol LastOnlineHandler: AnyObject {
  /// Notes that a person's last connection has ended.
  func ended(_ person: PersonID, at time: Timestamp, store: any PeopleStore)
  /// Notes people who are connected. Called from time to time, so that a server that is killed forgets no
  /// more than the time between.
  func seen(_ people: [PersonID], at time: Timestamp, store: any PeopleStore)
  /// Returns when people were online last, in the order of the question.
  func times(
    of people: [PersonID], store: any PeopleStore,
    then proceed: @escaping (Result<[Timestamp?], StoreError>) -> Void)
}

extension LastOnlineHandler {
  /// Notes nothing.
  public func seen(_ people: [PersonID], at time: Timestamp, store: any PeopleStore) {}
}

/// Times in the gateway's own store.
public final class StoredLastOnline: LastOnlineHandler {
  /// Makes a handler.
  public init() {}

  /// See ``LastOnlineHandler``.
  public func ended(_ person: PersonID, at time: Timestamp, store: any PeopleStore) {
    // If it cannot be written, an older time remains: no caller waits for this one.
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
