/// A list as the server has said it is, with changes laid over it that it has not taken yet.
///
/// A change that fails is taken away by itself: what else has happened meanwhile stays.
struct OptimisticList<Item: Sendable & Equatable> {
  /// A change that is under way.
  private struct Change {
    let number: Int
    let apply: ([Item]) -> [Item]
  }

  private let id: (Item) -> String
  private(set) var base: [Item] = []
  private var changes: [Change] = []
  private var last = 0

  init(id: @escaping (Item) -> String) { self.id = id }

  /// The list as it is shown.
  var shown: [Item] { changes.reduce(base) { $1.apply($0) } }

  /// Begins a change; returns its number.
  mutating func begin(_ apply: @escaping ([Item]) -> [Item]) -> Int {
    last += 1
    changes.append(Change(number: last, apply: apply))
    return last
  }

  /// Takes a change away, made or not.
  mutating func end(_ number: Int) { changes.removeAll { $0.number == number } }

  /// Puts another list in place of the server's.
  mutating func replace(_ items: [Item]) { base = items }

  /// Adds things, in place of those with the same ids.
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

  /// Forgets everything, changes under way included.
  mutating func clear() {
    base = []
    changes = []
  }
}
