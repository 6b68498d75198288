package import ParleyGatewayPorts
import ParleyTransportLibwebsockets

/// The schedule for exchanging revocations between the gateways on one store.
///
/// Each gateway checks its connections only against its own file. About once a second it sends its
/// new revocations to the others through the store, and receives theirs.
///
///     file ─▶ untold ─▶ store thread ─▶ the store ─▶ every other node's file
package struct RevocationExchange {
  private static let intervalMilliseconds: Int64 = 1_000
  /// Maximum revocations sent in one call.
  static let countMax = 1_000

  /// The position in the store's list up to which this gateway knows all revocations.
  package var place = 0
  /// The uptime at which the current call began: its result is at least as recent.
  private(set) var begunAt: Int64 = 0
  /// The incarnation of the database that `place` refers to; `nil` before the first page.
  private var life: Int?
  private var isUnderWay = false
  private var nextAt: Int64 = 0

  /// Creates a schedule that begins at the start of the store's list.
  package init() {}

  /// Records the position that a page has reached.
  ///
  /// - Returns: Whether the store's list may lack revocations that it contained before, since the
  ///   database was replaced or has lost its newest entries. The list is then read from its
  ///   beginning, and all known revocations have to be sent again.
  package mutating func take(_ page: RevocationPage) -> Bool {
    let isOther = page.newest < place || page.life != life ?? page.life
    life = page.life
    place = isOther ? 0 : page.place
    return isOther
  }

  /// Whether a call is due; if so, it counts as begun.
  mutating func begins(now: Int64) -> Bool {
    guard !isUnderWay, now >= nextAt else { return false }
    isUnderWay = true
    begunAt = now
    return true
  }

  /// Records the end of a call, and schedules the next.
  mutating func ended(hasMore: Bool, now: Int64) {
    isUnderWay = false
    nextAt = hasMore ? now : now + Self.intervalMilliseconds
  }
}

extension SharedRevocations {
  /// Applies all revocations of the other gateways, before the first client connects.
  ///
  /// - Returns: The position in the store's list up to which all revocations are known.
  func catchUp(from store: any ServerStore) -> Int {
    var place = 0
    while true {
      let begin = SystemClock().uptime
      // Unread revocations are read later; until then, tokens are rejected.
      guard let page = (try? store.exchange([], after: place)).flatMap(\.self) else { return place }
      takeOver(page.revocations)
      place = page.place
      guard page.hasMore else {
        complete(at: begin)
        return place
      }
    }
  }
}

extension ServerLoop {
  /// Sends revocations to the other gateways, and receives theirs, if a call is due.
  func exchangeRevocations() {
    guard let revocations = attached.sharedRevocations,
      exchange.begins(now: SystemClock().uptime)
    else { return }
    let unshared = revocations.takeUnshared(atMost: RevocationExchange.countMax)
    let (loop, mailbox) = (self, attached.transport.mailbox)
    attached.storeThread.exchange(unshared, after: exchange.place) { page in
      mailbox.post { loop.exchanged(unshared, page) }
    }
  }

  private func exchanged(_ completion: [Revocation], _ page: RevocationPage?) {
    if let page {
      attached.sharedRevocations?.takeOver(page.revocations)
      if exchange.take(page) {
        attached.sharedRevocations?.shareAgain()
      } else if !page.hasMore {
        attached.sharedRevocations?.complete(at: exchange.begunAt)
      }
    }
    let isShared = page?.isShared ?? false
    if !isShared { attached.sharedRevocations?.putBack(completion) }
    let hasMore =
      page?.hasMore ?? false || (isShared && completion.count == RevocationExchange.countMax)
    exchange.ended(hasMore: hasMore, now: SystemClock().uptime)
  }
}
