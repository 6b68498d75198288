/// A list from the server, to which the user's pending changes are applied.
///
/// A failed change is removed alone: other changes remain.
struct OptimisticList<Item: Sendable & Equatable> {
  /// A pending change.
  private struct Change {
    let number: Int
    let apply: ([Item]) -> [Item]
  }

  private let id: (Item) -> String
  private(set) var base: [Item] = []
  private var changes: [Change] = []
  private var last = 0

  init(id: @escaping (Item) -> String) { self.id = id }

  /// The list with pending changes.
  var shown: [Item] { changes.reduce(base) { $1.apply($0) } }

  /// Adds a pending change; returns its number.
  mutating func begin(_ apply: @escaping ([Item]) -> [Item]) -> Int {
    last += 1
    changes.append(Change(number: last, apply: apply))
    return last
  }

  /// Removes a pending change, whether it succeeded or not.
  mutating func end(_ number: Int) { changes.removeAll { $0.number == number } }

  /// Replaces the server's list.
  mutating func replace(_ items: [Item]) { base = items }

  /// Adds items to the server's list, replacing items with the same ids.
  mutating func merge(_ items: [Item]) {
    var places: [String: Int] = [:]
    for (index, item) in base.enumerated() { places[id(item)] = index }
    for item in items {
      if let place = places[id(item)] {
        base[place] = item
      } else {
        places[id(item)] = base.count
        base.append(item)
      }
    }
  }

  mutating func remove(_ name: String) { base.removeAll { id($0) == name } }

  mutating func sort(by isBefore: (Item, Item) -> Bool) {
    base = base.enumerated().sorted {
      isBefore($0.element, $1.element)
        || !isBefore($1.element, $0.element) && $0.offset < $1.offset
    }.map(\.element)
  }

  /// Clears the list and the pending changes.
  mutating func clear() {
    base = []
    changes = []
  }
}
