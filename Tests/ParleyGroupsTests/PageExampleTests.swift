import Foundation
import ParleyClient
import ParleyGroups
import ParleyOffline
import Testing
import ParleyTwakeCubits

// The Swift of Documentation/SwiftGroups.md, to the letter; a test holds the two together.

@MainActor func openChat(_ folder: String, _ parley: Parley, _ login: Login) async throws {
  let data = try GroupData(
    OfflineStore(folder: folder), user: login.userID, "https://notes.example.org/api"
  ) { _ in try await login.credentials() }
  let hikers = ChatGroup(name: "Hikers")
  try await data.createGroup(hikers)
  try await data.add([ChatMember(group: hikers.id, personId: "u-ben", nickname: "Ben")])
  try await data.send("Sunday at nine?", to: hikers.id)
  for try await groups in data.fetchAllGroups() { show(groups) }
}

@MainActor func follow(
  _ group: ResourceID, _ data: GroupData, _ parley: Parley
) -> Task<Void, Never> {
  let updates = parley.room(GroupData.room(of: group)).updates
  return Task { await data.follow(updates) }
}

@MainActor func openChannel(_ server: any MessagesSource, _ globals: Globals) async throws {
  let messages = MessagesCubit(server, globals: globals) {
    Int(Date().timeIntervalSince1970 * 1_000)
  }
  Task {
    for await state in messages.states {
      if case .loaded(let shown) = state { show(shown.messages) }
    }
  }
  try await messages.fetch(channelID: "general")
  try await messages.send("Hello")
}

@MainActor func followChannel(
  _ id: String, _ messages: MessagesCubit, _ authentication: AuthenticationCubit,
  _ globals: Globals
) async throws -> TwakeSocket {
  let socket = TwakeSocket("https://chat.example.org", globals: globals) {
    try await authentication.freshToken()
  }
  Task { await messages.listen(to: socket.events) }
  socket.start()
  try await socket.join("previous::channels/\(id)/messages/updates")
  return socket
}

// What the page takes for granted.

func show(_ list: [some Sendable]) {}

struct Login: Sendable {
  let userID = "u-ann"
  func credentials() async throws -> Credentials? { nil }
}

@Suite("The page for groups and cubits")
struct PageExampleTests {
  @Test("the page shows this code")
  func page() throws {
    let page = try String(
      contentsOf: GatewayProgram.root.appendingPathComponent("Documentation/SwiftGroups.md"),
      encoding: .utf8)
    let code = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
    let blocks = page.matches(of: /```swift\n((?:[^`]|`(?!``))+)```/).map(\.1)
    #expect(blocks.count == 4)
    for block in blocks { #expect(code.contains(block), "\(block)") }
  }
}
