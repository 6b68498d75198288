package import GatewayPorts
import TransportLibwebsockets

/// The exchange of revocations among the gateways on one store.
///
/// Each gateway has its own file, and checks its connections against it alone. About once a second it
/// sends its new revocations to the others through the store, and takes theirs over.
///
///     file ─▶ untold ─▶ store thread ─▶ the store ─▶ every other node's file
package struct RevocationExchange {
  private static let intervalMilliseconds: Int64 = 1_000
  /// Revocations in one call.
  static let countMax = 1_000

  /// The place in the store's list up to which all are known.
  package var place = 0
  /// The time at which the call under way began: its answer is at least as new.
  private(set) var begunAt: Int64 = 0
  /// The life of the database that the place is of; `nil` before the first page.
  private var life: Int?
  private var isUnderWay = false
  private var nextAt: Int64 = 0

  /// Nothing is known of other nodes' revocations yet.
  package init() {}

  /// Notes the place up to which a page has come.
  ///
  /// - Returns: Whether the store's list may lack revocations that it had, since the database was replaced or has lost
  ///   its newest entries. The list is then read from its beginning, and all known revocations have to be sent again.
  package mutating func take(_ page: RevocationPage) -> Bool {
    let isOther = page.newest < place || page.life != life ?? page.life
    life = page.life
    place = isOther ? 0 : page.place
    return isOther
  }

  /// Whether it is time for a call, which begins then.
  mutating func begins(now: Int64) -> Bool {
    guard !isUnderWay, now >= nextAt else { return false }
    isUnderWay = true
    begunAt = now
    return true
  }

  /// Takes note of the end of a call.
  mutating func ended(hasMore: Bool, now: Int64) {
    isUnderWay = false
    nextAt = hasMore ? now : now + Self.intervalMilliseconds
  }
}

extension SharedRevocations {
  /// Takes over all revocations of the other gateways, before the first client is let in.
  ///
  /// - Returns: The place in the store's list up to which all is known.
  func catchUp(from store: any ServerStore) -> Int {
    var place = 0
    while true {
      let begin = SystemClock().uptime
      // Unread revocations are read later; until then no client is let in by a token.
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
  /// Sends revocations to the other gateways, and receives theirs, if it is time.
  func exchangeRevocations() {
    guard let revocations = attached.sharedRevocations,
      exchange.begins(now: SystemClock().uptime)
    else { return }
    let untold = revocations.takeUntold(atMost: RevocationExchange.countMax)
    let (loop, mailbox) = (self, attached.transport.mailbox)
    attached.storeThread.exchange(untold, after: exchange.place) { page in
      mailbox.post { loop.exchanged(untold, page) }
    }
  }

  private func exchanged(_ told: [Revocation], _ page: RevocationPage?) {
    if let page {
      attached.sharedRevocations?.takeOver(page.revocations)
      if exchange.take(page) {
        attached.sharedRevocations?.tellAgain()
      } else if !page.hasMore {
        attached.sharedRevocations?.complete(at: exchange.begunAt)
      }
    }
    let isTold = page?.isTold ?? false
    if !isTold { attached.sharedRevocations?.putBack(told) }
    let hasMore =
      page?.hasMore ?? false || (isTold && told.count == RevocationExchange.countMax)
    exchange.ended(hasMore: hasMore, now: SystemClock().uptime)
  }
}
