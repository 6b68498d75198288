import ParleyGatewayPorts

/// A page of a list with only the items that the reader may see.
///
/// The store does not check rights. A page takes as many steps as it needs, but reads about
/// ``scanMax`` items at most: readers with rights to few of many items get short pages.
struct PageWork<Item: Sendable, Place: Sendable>: Sendable {
  /// The next step of a page.
  enum Step {
    /// Reads more items, after a position.
    case read(after: Place)
    /// Ends the page. `next` is the position after which the next page begins, if there may be one.
    case end(next: Place?)
  }

  /// Maximum items of a page.
  static var limitMax: Int { 1_000 }
  /// Maximum items of a step, so that other reads run in between.
  static var stepMax: Int { 250 }
  /// Approximate maximum of items that are read for one page.
  static var scanMax: Int { 10_000 }

  let identity: Identity
  let limit: Int
  /// The page's items so far.
  private(set) var found: [Item] = []
  private var scanned = 0
  /// The number of items requested from the store in the current step.
  private(set) var asked: Int

  /// Creates an empty page of at most `limit` items.
  init(identity: Identity, limit: Int) {
    self.identity = identity
    self.limit = limit
    // One additional item shows whether there is another page.
    asked = min(limit + 1, Self.stepMax)
  }

  /// Takes the items that the store has read in a step, in order.
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
    // If few items are visible, the steps become larger.
    asked = found.count == limit ? 1 : Self.stepMax
    return .read(after: last)
  }
}
