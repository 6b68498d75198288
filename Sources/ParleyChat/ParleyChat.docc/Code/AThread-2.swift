import ParleyChat
import ParleyClient

@MainActor func chat(as name: String) async throws {
  let parley = Parley("ws://127.0.0.1:8080", as: name)
  let chat = ChatHandlers(parley)
  guard let threads = chat.threads else { return }
  let news = threads.messages(in: "team")
  for message in try await threads.history(.newest(in: "team")).messages { show(message) }
  try await chat.core.send(text: "Hello", to: "team")
  for await update in news {
    if case .message(let message) = update { show(message) }
  }
}

func show(_ message: ChatMessage) {
  print(message.sender?.name ?? "?", message.text ?? "")
}
