// A list that stays fresh: prints the orders of a room, newest last, whenever one comes in.
//
//     parley-example-live-list ws://127.0.0.1:8080 orders
//
// An order is published as {"id": 7, "dish": "soup"}; a later one of the same id takes its place.
import Foundation
import ParleyClient

struct Order: Decodable {
  let id: Int
  let dish: String
}

/// Prints a line at once, whatever reads it.
func show(_ line: String) {
  print(line)
  fflush(nil)
}

precondition(CommandLine.arguments.count == 3, "usage: parley-example-live-list ADDRESS ROOM")
let service = ParleyService(CommandLine.arguments[1], as: "list")
let room = await service.room(CommandLine.arguments[2])
let updates = await room.updates
try await room.opened()
show("following")
var orders: [Order] = []
for await update in updates {
  switch update {
  case .publication(let publication):
    guard let order = try? publication.decode(Order.self) else { continue }
    orders.removeAll { $0.id == order.id }
    orders.append(order)
  case .gap:
    // An app would fetch its list here.
    orders = []
  }
  show(orders.map(\.dish).joined(separator: ", "))
}
