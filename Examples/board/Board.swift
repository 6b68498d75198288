import Observation
import ParleyClient
import ParleyJSON

/// A card of a board.
struct Card: Codable, Hashable {
  var text: String
  var column: String
  /// The place in the column.
  var order: String
  /// The person who has changed the card last.
  var by: String?
}

/// A kanban board: a room whose values are its cards, and the number of their moves.
///
/// A change shows at once. It returns when the server has stored it, waits without a connection, and is
/// withdrawn if the server refuses it.
@MainActor @Observable final class Board {
  static let columns = ["todo", "doing", "done"]

  /// The cards by their names; the number of moves is not a card.
  let cards: SharedValues<Card>
  private let counts: SharedValues<Int>
  private let person: String

  init(_ room: Room, for person: String) {
    cards = room.values()
    counts = room.values()
    self.person = person
  }

  var moves: Int { counts["moves"] ?? 0 }

  /// The cards of a column, in their order.
  func cards(in column: String) -> [(name: String, card: Card)] {
    cards.all.filter { $0.value.column == column }.sorted { $0.value.order < $1.value.order }
      .map { (name: $0.key, card: $0.value) }
  }

  func add(_ text: String) async throws(ValueError) {
    let card = Card(text: text, column: "todo", order: end(of: "todo"), by: person)
    try await cards.set("card-\(UInt64.random(in: 0 ... .max))", to: card)
  }

  /// Moves a card to the end of a column. Another person may change the card's text at the same time.
  func move(_ name: String, to column: String) async throws(ValueError) {
    let fields: JSONValue = [
      "column": JSONValue(column), "order": JSONValue(end(of: column)), "by": JSONValue(person),
    ]
    try await cards.change([.merge(name, fields), .add("moves", 1)])
  }

  func delete(_ name: String) async throws(ValueError) { try await cards.delete(name) }

  /// The place after the last card of a column.
  private func end(of column: String) -> String {
    OrderKey.between(cards(in: column).last?.card.order, nil)
  }
}
