import ParleyGatewayPorts

/// A page of a list, of which only what the reader may see is shown.
///
/// The store knows no rights. So a page takes as many steps as it needs, but reads about ``scanMax`` items
/// at most: a user with rights to few of many gets short pages.
struct PageWork<Item: Sendable, Place: Sendable>: Sendable {
  /// The next step of a page.
  enum Step {
    /// More is read, after a place.
    case read(after: Place)
    /// The page is whole; the place after which the next one begins, if there may be one.
    case end(next: Place?)
  }

  /// The number of items of a page at most.
  static var limitMax: Int { 1_000 }
  /// The number of items of a step at most, so that other reads have their turn in between.
  static var stepMax: Int { 250 }
  /// The approximate number of items that are read for one page.
  static var scanMax: Int { 10_000 }

  let identity: Identity
  let limit: Int
  /// The items that were found for the page.
  private(set) var found: [Item] = []
  private var scanned = 0
  /// The number of items that the store is asked for in the step under way.
  private(set) var asked: Int

  /// Begins a page of at most `limit` items.
  init(identity: Identity, limit: Int) {
    self.identity = identity
    self.limit = limit
    // One more item shows whether there is another page.
    asked = min(limit + 1, Self.stepMax)
  }

  /// Takes what the store has read in a step, in order.
  mutating func take(_ items: [Item], at place: (Item) -> Place, if isVisible: (Item) -> Bool)
    -> Step
  {
    var last: Place?
    for item in items {
      if found.count == limit { return .end(next: last ?? found.last.map(place)) }
      if isVisible(item) { found.append(item) }
      last = place(item)
    }
    scanned += items.count
    guard items.count == asked, let last else { return .end(next: nil) }
    guard scanned < Self.scanMax else { return .end(next: last) }
    // If few items are visible, larger steps are read.
    asked = found.count == limit ? 1 : Self.stepMax
    return .read(after: last)
  }
}
