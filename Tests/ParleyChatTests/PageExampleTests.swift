import Foundation
import ParleyChat
import ParleyClient
import Testing

// The Swift of Documentation/SwiftChat.md, to the letter; a test holds the two together.

@MainActor func talk(_ parley: Parley, in thread: ChatThread, on screen: Screen) async throws {
  let chat = ChatHandlers(parley)
  guard let threads = chat.threads else { return }
  let news = threads.messages(in: thread)
  screen.show(try await threads.history(.newest(in: thread)).messages)
  try await chat.core.send(text: "Hello", to: thread, SendOptions(notifiesFollowers: true))
  for await update in news {
    switch update {
    case .message(let message): screen.add(message)
    case .gap: screen.show(try await threads.history(.newest(in: thread)).messages)
    }
  }
}

@MainActor func actions(for message: ChatMessage, _ chat: ChatHandlers) -> [Action] {
  var actions: [Action] = []
  if let moderation = chat.moderation {
    actions.append(Action("Report") { try await moderation.report(message.id, because: nil) })
  }
  if let blocking = chat.blocking, let sender = message.sender {
    actions.append(Action("Block") { try await blocking.block(sender) })
  }
  return actions
}

struct OurModeration: ModerationHandler {
  let gateway: any ModerationHandler

  func report(_ message: ChatMessage.ID, because reason: String?) async throws(RequestError) {
    try await gateway.report(message, because: reason ?? "none given")
  }

  func withdrawReport(of message: ChatMessage.ID) async throws(RequestError) {
    try await gateway.withdrawReport(of: message)
  }

  func reports(in thread: ChatThread) async throws(RequestError) -> [MessageReport] {
    try await gateway.reports(in: thread)
  }

  func newReports(in thread: ChatThread) -> AsyncStream<ReportUpdate> {
    gateway.newReports(in: thread)
  }
}

@MainActor func adapt(_ chat: ChatHandlers) {
  chat.lastOnline = nil
  if let gateway = chat.moderation { chat.moderation = OurModeration(gateway: gateway) }
}

@MainActor func sendPicture(_ bytes: [UInt8], to thread: ChatThread, _ chat: ChatHandlers)
  async throws
{
  try await chat.imageMessage?.send(
    image: bytes, named: "beach.jpg", size: (1200, 800), caption: "Sunday", to: thread)
}

@MainActor func content(of message: ChatMessage, _ chat: ChatHandlers) async throws -> [UInt8]? {
  guard let attachment = message.attachment else { return nil }
  return try await chat.upload?.download(attachment.file)
}

@MainActor final class AccountScreen: ResourceDelegate {
  private var registration: ResourceRegistration?

  func open(_ account: String, _ resources: ResourceConnections) {
    registration = resources.register(account, delegate: self)
  }

  func resourceDidConnect(_ id: String) { show("Up to date") }

  func resource(_ id: String, didReceive message: ResourceMessage) {
    switch message {
    case .updated(let publication): show("Changed by \(publication.personID ?? "a service")")
    case .changed, .updatesMissed: reload()
    }
  }

  func resource(_ id: String, didDisconnect reason: ResourceDisconnection) { show("Offline") }

  private func show(_ status: String) { print(status) }
  private func reload() { print("reload") }
}

// What the page takes for granted.

@MainActor final class Screen {
  func show(_ messages: [ChatMessage]) {}
  func add(_ message: ChatMessage) {}
}

struct Action {
  let title: String
  let perform: @MainActor () async throws -> Void

  init(_ title: String, _ perform: @escaping @MainActor () async throws -> Void) {
    self.title = title
    self.perform = perform
  }
}

@Suite("The page for chats")
struct PageExampleTests {
  @Test("the page shows this code")
  func page() throws {
    let page = try String(
      contentsOf: GatewayProgram.root.appendingPathComponent("Documentation/SwiftChat.md"),
      encoding: .utf8)
    let code = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
    let blocks = page.matches(of: /```swift\n((?:[^`]|`(?!``))+)```/).map(\.1)
    #expect(blocks.count == 5)
    for block in blocks { #expect(code.contains(block), "\(block)") }
  }
}
