import Foundation
import ParleyChat
import ParleyClient
import ParleyJSON
import Testing

@MainActor @Suite("Messages with attachments", .serialized, .timeLimit(.minutes(30)))
struct AttachmentTests {
  /// An app's own upload handler.
  private final class OwnUploads: UploadHandler {
    var failure: RequestError?
    private(set) var names: [String] = []

    func upload(
      _ bytes: [UInt8], named name: String, for thread: ChatThread
    ) async throws(RequestError) -> ChatFile {
      if let failure { throw failure }
      names.append(name)
      return ChatFile(note: "n", hash: "h", name: name, bytes: bytes.count)
    }

    func download(_ file: ChatFile) async throws(RequestError) -> [UInt8] { [] }
  }

  /// An app's own core, which records what is sent.
  private final class OwnCore: CoreHandler {
    var sent: [String] = []
    var failure: PublishError?
    var connection: ConnectionState { .online }
    var person: ChatPerson.ID? { nil }
    var serverTime: Int64? { nil }
    func goOnline() {}
    func goOffline() {}
    func send(
      json: [UInt8], to thread: ChatThread, _ options: SendOptions
    ) async throws(PublishError) -> ChatMessage.ID {
      if let failure { throw failure }
      sent.append(String(decoding: json, as: UTF8.self))
      return ChatMessage.ID(
        thread: thread, position: .init(epoch: "e", offset: sent.count))
    }
  }

  private func chat() -> (ChatHandlers, OwnCore, OwnUploads) {
    let chat = ChatHandlers(Parley(transport: ScriptedRooms(), as: "Ann", seed: 1))
    let (core, upload) = (OwnCore(), OwnUploads())
    chat.core = core
    chat.upload = upload
    return (chat, core, upload)
  }

  @Test("each kind goes through the app's upload and core, and is read as it was sent")
  func kinds() async throws {
    let (chat, core, upload) = chat()
    let file = { @MainActor (name: String) in
      ChatFile(note: "n", hash: "h", name: name, bytes: 2)
    }
    try await chat.imageMessage?.send(
      image: [1, 2], named: "a.png", size: (3, 4), caption: "hi", to: "team")
    try await chat.audioMessage?.send(audio: [1, 2], named: "b.ogg", duration: 5, to: "team")
    try await chat.videoMessage?.send(
      video: [1, 2], named: "c.mp4", size: (3, 4), duration: 5, to: "team")
    try await chat.fileMessage?.send(file: [1, 2], named: "d.pdf", to: "team")
    let place = ChatLocation(latitude: 52.5, longitude: 13.4, text: "Berlin")
    try await chat.locationMessage?.send(location: place, to: "team")
    #expect(upload.names == ["a.png", "b.ogg", "c.mp4", "d.pdf"])
    let messages = core.sent.enumerated().map { offset, json in
      ChatMessage(
        id: .init(thread: "team", position: .init(epoch: "e", offset: offset)), sender: nil,
        time: 0, json: Array(json.utf8))
    }
    #expect(
      messages.map(\.attachment) == [
        ChatAttachment(.image, file("a.png"), caption: "hi", width: 3, height: 4),
        ChatAttachment(.audio, file("b.ogg"), duration: 5),
        ChatAttachment(.video, file("c.mp4"), width: 3, height: 4, duration: 5),
        ChatAttachment(.file, file("d.pdf")), nil,
      ])
    #expect(messages.map(\.text) == ["hi", nil, nil, nil, "Berlin"])
    #expect(messages.map(\.location) == [nil, nil, nil, nil, place])
  }

  @Test("a failure says which step failed, and an app removes or replaces a handler")
  func failures() async throws {
    let (chat, core, upload) = chat()
    upload.failure = .unknownNote
    await #expect(throws: AttachmentError.upload(.unknownNote)) {
      try await chat.fileMessage?.send(file: [1], named: "a", to: "team")
    }
    upload.failure = nil
    core.failure = .closed
    await #expect(throws: AttachmentError.publish(.closed)) {
      try await chat.fileMessage?.send(file: [1], named: "a", to: "team")
    }
    #expect(
      AttachmentError.upload(.unknownNote).localizedDescription
        == "\(AttachmentError.upload(.unknownNote))")
    for place: (Double, Double) in [(91, 0), (0, -181), (.nan, 0)] {
      await #expect(throws: AttachmentError.noPlace) {
        try await chat.locationMessage?.send(
          location: ChatLocation(latitude: place.0, longitude: place.1), to: "team")
      }
    }
    chat.imageMessage = nil
    #expect(chat.imageMessage == nil && chat.fileMessage != nil)
    chat.upload = nil
    #expect(chat.fileMessage == nil && chat.audioMessage == nil && chat.videoMessage == nil)
    #expect(chat.locationMessage != nil)
  }

  /// Handlers that an app sets, for features that the gateway does not have.
  private struct OwnHandlers: PeopleSearchHandler, NearbyUsersHandler, StickerMessageHandler,
    PublicThreadHandler
  {
    let core: any CoreHandler
    private let ben = ChatPerson(id: .init("ben"), name: "Ben")

    init(core: any CoreHandler) { self.core = core }

    func people(matching text: String, limit: Int) async throws -> [ChatPerson] {
      ben.name.hasPrefix(text) ? Array([ben].prefix(limit)) : []
    }

    func people(within metres: Double, of place: ChatLocation) async throws -> [NearbyPerson] {
      metres < 10 ? [] : [NearbyPerson(ben, metres: 10)]
    }

    func send(
      sticker: String, to thread: ChatThread, _ options: SendOptions
    ) async throws(PublishError) -> ChatMessage.ID {
      try await core.send(["type": "sticker", "text": sticker], to: thread, options)
    }

    func threads() async throws -> [ChatThread] { ["square"] }

    func create(named name: String) async throws -> ChatThread { ChatThread(name) }
  }

  @Test("an app sets handlers for people, places, stickers and public threads")
  func appHandlers() async throws {
    let (chat, core, _) = chat()
    #expect(chat.peopleSearch == nil && chat.nearbyUsers == nil)
    #expect(chat.stickerMessage == nil && chat.publicThread == nil)
    let own = OwnHandlers(core: core)
    (chat.peopleSearch, chat.nearbyUsers) = (own, own)
    (chat.stickerMessage, chat.publicThread) = (own, own)
    #expect(try await chat.peopleSearch?.people(matching: "B", limit: 5).map(\.name) == ["Ben"])
    let here = ChatLocation(latitude: 0, longitude: 0)
    #expect(try await chat.nearbyUsers?.people(within: 20, of: here).map(\.metres) == [10])
    try await chat.stickerMessage?.send(sticker: "wave", to: "team", SendOptions())
    #expect(core.sent.last?.contains("sticker") == true)
    #expect(try await chat.publicThread?.threads() == ["square"])
    #expect(try await chat.publicThread?.create(named: "new") == "new")
  }

  @Test(
    "content of another form is no attachment and no place",
    arguments: [
      "1", #"{"type":"image"}"#, #"{"type":"image","file":{"note":1}}"#,
      #"{"type":"film","file":{"note":"n","hash":"h","name":"a","bytes":1}}"#,
      #"{"type":"location","latitude":"x"}"#, #"{"type":"location","latitude":91,"longitude":0}"#,
    ])
  func otherContent(json: String) {
    let message = ChatMessage(
      id: .init(thread: "team", position: .init(epoch: "e", offset: 1)), sender: nil, time: 0,
      json: Array(json.utf8))
    #expect(message.attachment == nil && message.location == nil)
  }

  @Test("albums of different threads differ, and their ids are notes' ids")
  func albums() {
    let names = [
      "team", "te am", "te_20am", "e\u{301}", "\u{e9}", "__proto__", "", "team/1", "team.1",
      String(repeating: "x", count: 200), String(repeating: "ä", count: 100),
      String(repeating: "ä", count: 99) + "öx",
    ]
    let ids = names.map { GatewayUploads.album(of: ChatThread($0)) }
    #expect(Set(ids).count == names.count, "\(ids)")
    #expect(ids.allSatisfy { $0.utf8.count <= 200 && $0.hasPrefix("album-") })
    #expect(ids.first == "album-team")
  }

  @Test("a picture is on the server's disk, in its thread's album, and others read it")
  func program() async throws {
    let server = try GatewayProgram("--hmac-secret-file", "secret", "--audience", "parley")
    let tokens = try (server.token(for: "ann"), server.token(for: "ben", document: "album-*=read"))
    let ann = Parley(server.address, as: "ann") { tokens.0 }
    let ben = Parley(server.address, as: "ben") { tokens.1 }
    let (mine, theirs) = (ChatHandlers(ann), ChatHandlers(ben))
    var messages = try #require(theirs.threads).messages(in: "te am").makeAsyncIterator()
    try await ben.room("te am").opened()
    let name = "a [b] ü.txt"
    for number in 0..<2 {
      try await mine.fileMessage?.send(
        file: Array("content \(number)".utf8), named: name, caption: "look", to: "te am")
    }
    for number in 0..<2 {
      guard case .message(let message)? = await messages.next() else {
        Issue.record("no message")
        return
      }
      let file = try #require(message.attachment?.file)
      #expect(message.text == "look" && file.name == name && file.bytes == 9)
      let bytes = try #require(try await theirs.upload?.download(file))
      #expect(String(decoding: bytes, as: UTF8.self) == "content \(number)")
    }
    // The album's text names each file, so that the server retains it.
    let album = GatewayUploads.album(of: "te am")
    let text = try await ann.notes.text(of: album).text
    for file in try await ann.notes.files(of: album) { #expect(text.contains(file.path)) }
    #expect(text.split(separator: "\n").count == 2)
    // One who may only read stores nothing.
    await #expect(throws: (any Error).self) {
      try await theirs.fileMessage?.send(file: [1], named: "x", to: "te am")
    }
    // The caller's handlers of an app.
    #expect(mine.authentication?.person == .init("ann"))
    #expect(mine.peopleSearch == nil && mine.nearbyUsers == nil)
    #expect(mine.stickerMessage == nil && mine.publicThread == nil)
    mine.authentication?.signedOut()
    #expect(mine.core.connection == .stopped(.asked))
    mine.authentication?.signedIn()
    _ = try await mine.core.send(text: "back", to: "te am")
  }
}
