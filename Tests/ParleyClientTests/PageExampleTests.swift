import Foundation
import ParleyClient
import Testing

// The Swift of Documentation/SwiftApp.md, to the letter; a test holds the two together. Its app is
// in AppExample.swift.

@MainActor func greet(in parley: Parley) async throws {
  let note = parley.note("n-1")
  try await note.opened()
  try note.replace(0..<0, with: "Hello ")
  try await note.saved()
}

@MainActor func emphasise(in parley: Parley) async throws -> AttributedString {
  let note = parley.note("minutes", formats: true)
  try await note.opened()
  try note.format(0..<5, ["bold": .set, "header": .number(1)])
  let link: NoteAttributes = ["link": .text("https://example.org")]
  try note.update(NoteDelta([.retain(5, [:]), .insert("!", link)]))
  return note.delta.attributedString
}

func share(by parley: some ParleyConnecting) async throws -> NoteLink {
  let note = try await parley.notes.create("Shopping", folder: "home")
  for found in try await parley.notes.search("milk") { print(found.title, found.place.text) }
  try await parley.notes.rename(note.id, to: "Groceries")
  try await parley.notes.move(note.id, to: "home/old")
  try await parley.notes.delete(note.id)
  try await parley.notes.restore(note.id)
  return try await parley.notes.share(note.id, access: .write, for: .seconds(86_400))
}

@MainActor func connect(personID: String) throws -> Parley {
  Parley("wss://notes.example.org", as: "Ann", storage: try FileStorage(named: personID))
}

@MainActor func follow(_ parley: Parley, reload: () async -> Void) async {
  for await update in parley.room("orders").updates {
    switch update {
    case .publication(let publication):
      let order = try? publication.decode(Order.self)
      print("order", order?.number ?? 0)
    case .gap: await reload()
    }
  }
}

struct Order: Codable { let number: Int }

@MainActor func finish(_ name: String, on board: Room) async throws {
  let cards = board.values(of: Card.self)
  do {
    try await cards.merge(name, ["column": "done"])
  } catch ValueError.failed(let reason) {
    print("not stored:", reason)
  }
  for (name, card) in cards.all where card.column == "done" { print(name, card.text) }
}

struct Card: Codable { var text: String, column: String }

// The Swift of Documentation/SharedValues.md.

@MainActor func vote(for dish: String, with parley: Parley) async throws -> Int? {
  let votes = parley.room("lunch").values(of: Int.self)
  try await votes.add(dish, 1)
  return votes[dish]
}

@MainActor func buy(on board: Room) async throws {
  let stock = board.values(of: Int.self)
  let isBought = try await stock.transaction(["stock"]) { values in
    values["stock", default: 0] > 0 ? [.add("stock", -1)] : nil
  }
  if !isBought { print("sold out") }
  try await stock.undo()  // Restores what this client's last change replaced.
}

func announce(_ service: ParleyService) async throws {
  try await service.room("orders").publish(Order(number: 7), key: "order-7")
}

func tick(_ service: ParleyService) async throws {
  let note = await service.note("todo")
  try await note.edit { text in
    text = text.replacing("[ ] tea", with: "[x] tea")
  }
  for await update in await note.updates {
    if case .changed(let change) = update { print(change.author ?? "?", change.inserted) }
  }
}

func save(_ edited: String, copiedFrom base: String, in note: ServiceNote) async throws {
  try await note.merge(edited, madeFrom: base)
}

func connectToOurs() -> ParleyService {
  ParleyService(
    transport: SystemTransport("wss://notes.internal", trusting: "/etc/ssl/our-authority.pem"),
    as: "bot")
}

// And that of Sources/ParleyClient/ParleyClient.docc.

@MainActor func shout(_ word: String, in note: Note) throws {
  guard let range = note.text.firstRange(of: word) else { return }
  try note.replace(range, with: word.uppercased())
}

@MainActor func appMoved(toBackground isInBackground: Bool, _ parley: Parley) {
  if isInBackground { parley.willSuspend() } else { parley.networkChanged() }
}

@Suite("The page for apps")
struct PageExampleTests {
  @Test func `the page's example about notes runs`() async throws {
    let server = try GatewayProgram()
    let link = try await share(by: ParleyService(server.address, as: "Ann", timeout: .seconds(600)))
    #expect(link.access == .write)
  }

  @Test @MainActor func `the page's example about values runs`() async throws {
    let server = try GatewayProgram()
    let ann = Parley(server.address, as: "Ann", timeout: .seconds(600))
    let ben = Parley(server.address, as: "Ben", timeout: .seconds(600))
    let board = ann.room("board")
    let (cards, others) = (board.values(of: Card.self), ben.room("board").values(of: Card.self))
    try await board.opened()
    try await cards.set("card-7", to: Card(text: "Soup", column: "todo"))
    try await finish("card-7", on: board)
    #expect(cards["card-7"]?.column == "done")
    try await others.merge("card-7", ["text": "Hot soup"])
    #expect(others["card-7"]?.text == "Hot soup")
    await #expect(throws: ValueError.conflict(["card-7": 3])) {
      try await others.change([.delete("card-7")], ifOffsets: ["card-7": 1])
    }
    // The last card is another's; its change arrives by itself.
    while cards["card-7"]?.text != "Hot soup" { await Task.yield() }
    #expect(cards["card-7"]?.column == "done")
    #expect(cards.isReady && cards.undecodable.isEmpty)
    try await board.values(of: Int.self).set("stock", to: 3)
    try await buy(on: board)
    #expect(board.values(of: Int.self)["stock"] == 3)
    #expect(cards.undecodable == ["stock"])
  }

  @Test @MainActor func `the example of the page about shared values runs`() async throws {
    let server = try GatewayProgram()
    let ann = Parley(server.address, as: "Ann", timeout: .seconds(600))
    #expect(try await vote(for: "Soup", with: ann) == 1)
    #expect(try await vote(for: "Soup", with: ann) == 2)
  }

  @Test("the pages show this code", arguments: [("SwiftApp", 13), ("SharedValues", 1)])
  func page(name: String, count: Int) throws {
    let page = try String(
      contentsOf: GatewayProgram.root.appendingPathComponent("Documentation/\(name).md"),
      encoding: .utf8)
    let this = URL(fileURLWithPath: #filePath)
    let app = this.deletingLastPathComponent().appendingPathComponent("AppExample.swift")
    let views = GatewayProgram.root.appendingPathComponent("Tests/ParleyUITests/AppExample.swift")
    let code = try [this, app, views].map { try String(contentsOf: $0, encoding: .utf8) }.joined()
    let blocks = page.matches(of: /```swift\n((?:[^`]|`(?!``))+)```/).map(\.1)
    #expect(blocks.count == count)
    for block in blocks { #expect(code.contains(block), "\(block)") }
  }

  @Test("the articles show this code")
  func articles() throws {
    let folder = GatewayProgram.root
      .appendingPathComponent("Sources/ParleyClient/ParleyClient.docc")
    let code = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
    var count = 0
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
    where name.hasSuffix(".md") {
      let page = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
      for block in page.matches(of: /```swift\n((?:[^`]|`(?!``))+)```/).map(\.1) {
        count += 1
        #expect(code.contains(block), "\(name): \(block)")
      }
    }
    #expect(count == 4)
  }
}
