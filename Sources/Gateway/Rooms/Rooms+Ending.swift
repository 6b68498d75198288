import ParleyGatewayPorts
import SocketMessages

/// Values with a limited lifetime, and values that are bound to a client's connections.
///
/// A value that has ended is deleted by a publication of the server's. It has the condition that the
/// value has not changed since, so that several nodes delete it once, and a renewed value remains.
///
///     a publication with ttl ─▶ due ─▶ store: what has expired ─▶ publish deletions, if unchanged
///     the last connection of a client ends ─▶ grace ─▶ store: what it holds ─▶ the same
extension Rooms {
  /// Maximum values that are deleted in one step.
  private static let endingMax = 256
  /// Milliseconds between reads of what has expired.
  private static let endingPause: Int64 = 2_000

  /// Notes the lifetimes in a change that was published here.
  func noteLifetimes(in change: ValueChange?, of client: String?, at time: Timestamp) {
    for operation in change?.operations ?? [] {
      switch operation.lifetime {
      case .unlimited: break
      case .seconds(let seconds):
        ending.nextExpiry = min(ending.nextExpiry ?? .max, time + Timestamp(seconds) * 1_000)
      case .connection: if let client { hold(client) }
      }
    }
  }

  /// Notes a publication of unknown outcome. It may have bound values to connections, or was to delete
  /// such values: they are looked up later, when a late commit has been done.
  func noteUnknownOutcome(of work: RoomPublishing) {
    switch work.publisher {
    case .service: break
    default:
      let binds = work.change?.operations.contains { $0.lifetime == .connection }
      guard binds == true else { return }
    }
    ending.nextHolderRead = dependencies.clock.uptime + PeopleExchange.silenceMilliseconds
  }

  /// Notes that values are bound to a client's connections.
  private func hold(_ client: String) {
    let client = ExactName(client)
    guard ending.holders.insert(client).inserted else { return }
    // The client may have gone while its publication was being stored.
    if connectionsByClient[client.text] == nil { release(client) }
    presence.announceHolder(client.text)
  }

  /// Notes that a client has connected, which may have bound values before, perhaps at another node.
  func holderCame(_ client: String) {
    let name = ExactName(client)
    guard ending.holders.contains(name) || presence.isHolderElsewhere(client) else { return }
    ending.holders.insert(name)
    ending.releases[name] = nil
    presence.announceHolder(client)
  }

  /// Begins the grace period after a client's last connection has ended.
  func holderLeft(_ client: String) {
    let client = ExactName(client)
    guard ending.holders.contains(client), connectionsByClient[client.text] == nil else { return }
    release(client)
  }

  /// Begins the grace period of a client that another node no longer reports.
  func holderLeftElsewhere(_ client: String) { release(ExactName(client)) }

  private func release(_ client: ExactName) {
    ending.releases[client] =
      dependencies.clock.uptime + settings.presenceGraceMilliseconds
  }

  /// Whether a client has a connection here or elsewhere, so that its values stay.
  private func isConnected(_ client: ExactName) -> Bool {
    guard connectionsByClient[client.text] != nil else {
      return presence.isHolderElsewhere(client.text)
    }
    // It may have returned after the end of its grace period.
    if ending.holders.insert(client).inserted { presence.announceHolder(client.text) }
    return true
  }

  /// Reads the values that are to be deleted, when due.
  func tickEnding(now: Int64) {
    for (client, time) in ending.releases where time <= now {
      ending.releases[client] = nil
      guard !isConnected(client) else { continue }
      if ending.holders.remove(client) != nil { presence.withdrawHolder(client.text) }
      readEnding(.held(by: client.text))
    }
    if let time = ending.nextHolderRead, time <= now {
      ending.nextHolderRead = nil
      readEnding(.heldByAny(after: nil))
    }
    let isDue = ending.nextExpiry.map { $0 <= dependencies.clock.now } ?? false
    // Other nodes publish values with lifetimes, and the store ends lifetimes sooner after the clock
    // was set back.
    let mayBeDue = (settings.sharesStore || ending.nextExpiry != nil) && now >= ending.nextRead
    guard !ending.isReading, isDue || mayBeDue else { return }
    ending.isReading = true
    ending.nextRead = now + Self.endingPause
    readEnding(.expired(at: dependencies.clock.now))
  }

  private func readEnding(_ which: EndingValues) {
    store(
      .room(.ending(which, limit: Self.endingMax)), under: .housekeeping, then: .endingValues(which)
    )
  }

  /// Deletes values that have ended.
  func endValues(
    _ which: EndingValues, _ outcome: StoreOutcome<(values: [EndingValue], next: Timestamp?)>
  ) {
    let now = dependencies.clock.uptime
    guard case .success(let (values, next)) = outcome else {
      if case .expired = which { ending.isReading = false }
      // Another tick repeats a read that has failed.
      switch which {
      case .expired: ending.nextExpiry = dependencies.clock.now + Self.endingPause
      case .held(let client): ending.releases[ExactName(client)] = now + Self.endingPause
      case .heldByAny: ending.nextHolderRead = now
      }
      return
    }
    switch which {
    case .expired:
      ending.isReading = false
      // What is deleted now is still among the stored values.
      ending.nextExpiry = next.map { max($0, dependencies.clock.now + Self.endingPause / 2) }
      delete(values)
    case .held(let client):
      // The client may have returned while its values were being read.
      guard !isConnected(ExactName(client)) else { return }
      if values.count == Self.endingMax {
        ending.releases[ExactName(client)] = now + Self.endingPause
      }
      delete(values)
    case .heldByAny:
      if ending.nextExpiry == nil { ending.nextExpiry = next }
      // Of the former run, of a node that has died, or of a commit that was not reported. Living
      // clients return within the lease.
      for holder in Set(values.compactMap { $0.holder.map(ExactName.init) }) {
        guard ending.releases[holder] == nil, !ending.holders.contains(holder) else { continue }
        ending.holders.insert(holder)
        ending.releases[holder] =
          now + max(settings.presenceGraceMilliseconds, PeopleExchange.silenceMilliseconds)
      }
      if values.count == Self.endingMax { readEnding(.heldByAny(after: values.last)) }
    }
  }

  private func delete(_ values: [EndingValue]) {
    for (room, values) in Dictionary(grouping: values, by: \.room).sorted(by: { $0.key < $1.key }) {
      var request = PublishRequest(room: room)
      request.change = ValueChange(
        values.map { ValueOperation($0.name, .delete) },
        ifOffsets: Dictionary(values.map { ($0.name, $0.offset) }) { $1 })
      publish(request, for: .service)
    }
  }
}

/// The state of values that end.
struct EndingState {
  /// The time at which the next lifetime ends, as far as is known; `nil` for none.
  var nextExpiry: Timestamp?
  /// Whether the store is asked for what has expired.
  var isReading = false
  /// Uptime in milliseconds of the next read that is not known to find anything.
  var nextRead: Int64 = 0
  /// Uptime in milliseconds of the next read of all bound values: at first those of an earlier run.
  var nextHolderRead: Int64? = 0
  /// The clients to whose connections values are bound, as far as is known.
  var holders: Set<ExactName> = []
  /// Uptime in milliseconds at which the values of clients without a connection are deleted.
  var releases: [ExactName: Int64] = [:]
}
