// swift-format-ignore-file
import Foundation
import ParleyClient
import ParleyOffline
import Testing

// The Swift of Documentation/SwiftOffline.md, to the letter; a test holds the two together. It is
// in a namespace, beside other things of these names.
private enum Page {
enum Session { static func token() async throws -> String { "" } }

@MainActor final class Screen {
  func render(_ contacts: [Contact]) {}
  func warn(_ reason: String?) {}
  static func merge(mine: [UInt8], theirs: Contact) async throws -> Contact { theirs }
}

enum AddressBook {
  static func contacts(for query: DataQuery, of user: String) async throws -> [Contact] { [] }
}

struct Contact: OfflineModel {
  var id = ResourceID.temporary()
  var name: String
  var phone: String?
}

func open() throws -> Repository<Contact> {
  let service = RESTService("https://api.example.org/v1") { _ in
    Credentials(user: "ann", token: try await Session.token())
  }
  let outbox = try Outbox(OfflineStore(named: "ann"), user: "ann", sender: service)
  return Repository(RESTSource(service, "contacts"), "contacts", in: outbox)
}

func show(_ contacts: Repository<Contact>, on screen: Screen) async throws {
  for try await list in contacts.fetchAll() {
    await screen.render(list)
  }
}

func edit(_ contacts: Repository<Contact>) async throws {
  let ada = Contact(name: "Ada")
  try await contacts.save(ada)
  try await contacts.change(ada.id) { $0.phone = "12 34" }
  try await contacts.perform("comments", on: ada.id, ["text": "Called."])
  try await contacts.delete(7)
}

func saveAndWait(_ contact: Contact, in contacts: Repository<Contact>) async throws {
  for await step in try await contacts.save(contact) {
    switch step {
    case .queued: print("kept")
    case .saved(let id, _): print("saved as \(id)")
    case .problem(let problem): print("to be decided: \(problem.state)")
    case .discarded: print("given up")
    }
  }
}

@MainActor func follow(_ parley: Parley, _ service: RESTService, in outbox: Outbox)
  -> Repository<Contact>
{
  Repository(
    RESTSource(service, "contacts"), "contacts", in: outbox,
    invalidatedBy: parley.room("contacts").updates)
}

func warn(_ contacts: Repository<Contact>, on screen: Screen) async {
  for await problem in await contacts.fetchProblems { await screen.warn(problem?.description) }
}

func decide(_ outbox: Outbox) async throws {
  for await problems in await outbox.problems {
    for problem in problems {
      if let theirs: Contact = problem.theirs() {
        let merged = try await Screen.merge(mine: problem.draft.body, theirs: theirs)
        try await outbox.decide(problem, .send(merged))
      } else {
        try await outbox.decide(problem, .discard)
      }
    }
  }
}

func local(_ outbox: Outbox) -> Repository<Contact> {
  let source = ClosureSource<Contact> { query, user in
    try await AddressBook.contacts(for: query, of: user)
  }
  return Repository(source, "contacts", in: outbox)
}

}

@Suite("The page for lists")
struct PageExampleTests {
  @Test("the page shows this code")
  func page() throws {
    let page = try String(
      contentsOf: GatewayProgram.root.appendingPathComponent("Documentation/SwiftOffline.md"),
      encoding: .utf8)
    let code = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
    let blocks = page.matches(of: /```swift\n((?:[^`]|`(?!``))+)```/).map(\.1)
    #expect(blocks.count == 8)
    for block in blocks { #expect(code.contains(block), "\(block)") }
  }

  @Test("the articles show this code")
  func articles() throws {
    let folder = GatewayProgram.root
      .appendingPathComponent("Sources/ParleyOffline/ParleyOffline.docc")
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
    #expect(count == 3)
  }
}
