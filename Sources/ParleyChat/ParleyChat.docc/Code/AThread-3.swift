import ParleyChat
import ParleyClient

@MainActor func sendPicture(_ bytes: [UInt8], _ chat: ChatHandlers) async throws {
  try await chat.imageMessage?.send(image: bytes, named: "beach.jpg", to: "team")
}

@MainActor func show(_ message: ChatMessage, _ chat: ChatHandlers) async throws {
  if let attachment = message.attachment, let upload = chat.upload {
    let bytes = try await upload.download(attachment.file)
    print(attachment.file.name, bytes.count)
  }
  chat.receipts.map { try? $0.confirm(.read, of: message.id) }
}
