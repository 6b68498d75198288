import ParleyChat
import ParleyClient

@MainActor func chat(as name: String) async throws {
  let parley = Parley("ws://127.0.0.1:8080", as: name)
  let chat = ChatHandlers(parley)
  try await chat.core.send(text: "Hello", to: "team")
}
