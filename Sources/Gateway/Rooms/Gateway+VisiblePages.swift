import GatewayPorts
import SocketMessages

/// Pages of a room's history as somebody gets to see them.
///
/// A page from which everything is left out would look like the end: readers go on from the last
/// publication that they see. So what is left out is made up for by what comes behind it.
extension Gateway {
  /// Reads a page for a reader.
  ///
  /// - Parameter reader: whose blocks hold; `nil` for nobody in particular.
  func page(
    of room: RoomName, _ range: RoomRange, limit: Int, for reader: PersonID?,
    then goOn: @escaping (RoomOutcome) -> Void
  ) {
    guard let reader, people.blocking?.concerns(reader) ?? false else {
      return page(of: room, range, limit: limit, then: goOn)
    }
    page(
      of: room, range, limit: limit,
      where: { [unowned self] publication in
        !(publication.person.map { separates(reader, from: $0) } ?? false)
      }, then: goOn)
  }

  /// Reads a page of those publications that are wanted; it is empty only if there are none left.
  func page(
    of room: RoomName, _ range: RoomRange, limit: Int,
    where isWanted: @escaping (Publication) -> Bool, then goOn: @escaping (RoomOutcome) -> Void
  ) {
    // As many as a page may have: who wants one of a thousand is not to ask a thousand times.
    page(of: room, range, limit: settings.limits.pageMax) { [unowned self] outcome in
      guard case .done(.page(var page)) = outcome else { return goOn(outcome) }
      let end = range.isForward ? page.publications.last : page.publications.first
      page.publications.removeAll { !isWanted($0) }
      if page.publications.isEmpty, page.hasMore, let end {
        let rest: RoomRange = range.isForward ? .since(end.offset) : .before(end.offset)
        self.page(of: room, rest, limit: limit, where: isWanted) { outcome in
          guard case .done(.page(var later)) = outcome else { return goOn(outcome) }
          later.hasGap = later.hasGap || page.hasGap
          goOn(.done(.page(later)))
        }
        return
      }
      let surplus = page.publications.count - limit
      if surplus > 0 {
        page.hasMore = true
        if range.isForward {
          page.publications.removeLast(surplus)
        } else {
          page.publications.removeFirst(surplus)
        }
      }
      goOn(.done(.page(page)))
    }
  }
}

extension RoomRange {
  /// Whether what comes next in the same direction is newer.
  fileprivate var isForward: Bool {
    if case .since = self { true } else { false }
  }
}
