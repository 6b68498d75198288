import Foundation
import ParleyClient
import ParleyDialectModels
import ParleyJSON
import ParleyTwakeCubits
import Synchronization
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@MainActor @Suite("A socket of Twake's apps, and the program", .timeLimit(.minutes(30)))
struct TwakeSocketTests {
  private static let room = "previous::channels/c1/messages/updates"
  private static let flags = ["--hmac-secret-file", "secret", "--audience", "parley"]

  private func serve() throws -> GatewayProgram {
    try GatewayProgram(in: GatewayProgram.newFolder(), flags: Self.flags)
  }

  private func publish(_ json: String, in room: String = room, _ program: GatewayProgram)
    async throws
  {
    let url = try #require(URL(string: "http://127.0.0.1:\(program.port)/api/publish"))
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.httpBody = Data(
      #"{"publications":[{"room":\#(text(JSONValue(room))),"data":\#(json)}]}"#.utf8)
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    request.setValue(
      "Bearer \(try program.token(for: "server"))", forHTTPHeaderField: "Authorization")
    let (data, response) = try await URLSession.shared.data(for: request)
    try #require(
      (response as? HTTPURLResponse)?.statusCode == 200, "\(String(decoding: data, as: UTF8.self))")
  }

  private func text(_ json: JSONValue) -> String { String(decoding: json.utf8, as: UTF8.self) }

  private func update(_ id: String, _ action: String = "update") -> String {
    #"{"action":"\#(action)","message_id":"\#(id)","thread_id":"\#(id)"}"#
  }

  @Test("events reach the app in order and once, through cuts of the connection")
  func events() async throws {
    let program = try serve()
    let proxy = try CuttingProxy(to: program.port)
    defer { proxy.close() }
    let token = try program.token(for: "ada")
    let globals = Globals()
    let socket = TwakeSocket(proxy.address, globals: globals, timeout: .seconds(600)) { token }
    var events = socket.events.makeAsyncIterator()
    socket.start()
    try await socket.join(Self.room)
    #expect(socket.state == .online && globals.state.isNetworkConnected)
    for round in 0..<3 {
      proxy.cut()
      for number in 0..<4 { try await publish(update("\(round)-\(number)"), program) }
      proxy.mend()
      socket.networkChanged()
      for number in 0..<4 {
        let event = try #require(await events.next())
        #expect(
          event
            == .message(
              .updated, id: "\(round)-\(number)", place: Self.room, thread: "\(round)-\(number)",
              content: nil))
      }
    }
    socket.stop()
    #expect(socket.state == .stopped && !globals.state.isNetworkConnected)
  }

  @Test("a cubit follows the socket: resources, typing, and the list of its channel")
  func cubits() async throws {
    let program = try serve()
    let token = try program.token(for: "ada")
    let socket = TwakeSocket(program.address, timeout: .seconds(600)) { token }
    let source = FakeMessages()
    let globals = Globals()
    let messages = MessagesCubit(source, globals: globals) { 0 }
    try await messages.fetch(channelID: "c1")
    let listening = Task { await messages.listen(to: socket.events) }
    defer { listening.cancel() }
    var events = socket.events.makeAsyncIterator()
    var states = messages.states.makeAsyncIterator()
    socket.start()
    try await socket.join(Self.room)
    source.set { $0.messages = [makeMessage("m1", "hello", at: 1, in: "c1", nil)] }
    try await publish(update("m1"), program)
    while case .loaded(let shown)? = await states.next(), shown.messages.isEmpty {}
    _ = await events.next()
    try await publish(
      #"{"action":"updated","type":"channel_activity","path":"/c","resource":{"id":"c1","last_activity":1.5e3}}"#,
      program)
    #expect(await events.next() == .activity(place: "c1", time: 1_500, last: nil))
    let other = TwakeSocket(program.address, timeout: .seconds(600)) { token }
    other.start()
    try await other.join(Self.room)
    struct Typing: Encodable {
      struct Event: Encodable { let user_id: String, is_writing: Bool }
      var type = "writing"
      let event: Event
    }
    try await other.send(Typing(event: .init(user_id: "x", is_writing: true)), to: Self.room)
    // The server says who it is.
    #expect(
      await events.next() == .typing(place: Self.room, userID: "ada", isTyping: true))
    #expect(try await other.online(["ada", "ben"]) == ["ada": true, "ben": false])
    other.stop()
    await #expect(throws: TwakeSocketError.stopped) { try await other.online(["ada"]) }
    await #expect(throws: TwakeSocketError.stopped) { try await other.send(1, to: Self.room) }
  }

  @Test("a refused token and a refused room are reported in words, and later in onProblem")
  func refusals() async throws {
    let program = try serve()
    let token = try program.token(for: "ada", room: "open=all")
    let socket = TwakeSocket(program.address, timeout: .seconds(600)) { token }
    socket.start()
    try await socket.join("open")
    do {
      try await socket.join(Self.room)
      Issue.record("joined")
    } catch {
      #expect("\(error)".contains("not authorized"), "\(error)")
    }
    var problems: [TwakeSocketError] = []
    let reported = Feed<Void>(bound: 1)
    socket.onProblem = {
      problems.append($0)
      reported.put(()) { _ in [()] }
    }
    try await socket.send(1, to: Self.room)
    _ = await reported.next()
    guard case .notAllowed = problems.first else {
      Issue.record("\(problems)")
      return
    }
    let wrong = try program.token(for: "ada", audience: "other")
    let refused = TwakeSocket(program.address, timeout: .seconds(600)) { wrong }
    refused.start()
    do {
      try await refused.join("open")
      Issue.record("joined")
    } catch {
      guard case .unauthorised = error else {
        Issue.record("\(error)")
        return
      }
      #expect(refused.state == .refused(error))
    }
  }
}

/// A transport to a server that is a test's.
private final class ScriptedTransport: ClientTransport {
  enum Peer: Sendable { case unreachable, silent, refusing, forbidding }
  struct Unreachable: Error, CustomStringConvertible { let description = "no such host" }

  let peer: Peer
  init(_ peer: Peer) { self.peer = peer }

  func open() async throws -> any ClientConnection {
    if peer == .unreachable { throw Unreachable() }
    return Connection(peer)
  }

  private final class Connection: ClientConnection {
    private let peer: Peer
    private let incoming = Feed<[UInt8]>(bound: 1_000)

    init(_ peer: Peer) {
      self.peer = peer
      if peer != .silent { put(SessionBench.opening) }
    }

    private func put(_ frame: String) { incoming.put(Array(frame.utf8)) { Array($0) } }

    func send(_ message: [UInt8]) {
      let line = String(decoding: message, as: UTF8.self)
      if line == "40" { put("40{}") }
      if line.contains("authenticate") {
        put(
          peer == .refusing ? #"42["unauthorized",{"message":"no"}]"# : #"42["authenticated"]"#)
      }
      if line.contains("realtime:join") {
        put(#"42["realtime:join:error",{"name":"r","message":"no"}]"#)
      }
    }

    func receive() async throws(ConnectionEnd) -> [UInt8] {
      guard let bytes = await incoming.next() else { throw ConnectionEnd(code: 1006) }
      return bytes
    }

    func close() { incoming.finish() }
  }
}

@MainActor @Suite("Waits for a socket end", .timeLimit(.minutes(30)))
struct TwakeSocketAwaitTests {
  private final class Flag: Sendable { let value = Mutex(false) }

  struct Broken: Error, CustomStringConvertible { let description = "keychain" }

  enum Cause: CaseIterable {
    case neverStarted, noToken, tokenThrows, unreachable, silent, refused, forbidden, stopped, left
    case cancelled
  }

  @Test("each with an error that names the cause", arguments: Cause.allCases)
  func ends(cause: Cause) async throws {
    let peer: ScriptedTransport.Peer =
      switch cause {
      case .refused: .refusing
      case .forbidden: .forbidding
      case .silent, .stopped, .left, .cancelled: .silent
      case .neverStarted, .noToken, .tokenThrows, .unreachable: .unreachable
      }
    let time = ManualTime()
    let socket = TwakeSocket(ScriptedTransport(peer), time: time) {
      switch cause {
      case .noToken: nil
      case .tokenThrows: throw Broken()
      default: "t"
      }
    }
    if cause != .neverStarted { socket.start() }
    let isDone = Flag()
    let joining = Task {
      defer { isDone.value.withLock { $0 = true } }
      do throws(TwakeSocketError) {
        try await socket.join("r")
        return ""
      } catch {
        return "\(error)"
      }
    }
    switch cause {
    case .stopped, .left, .cancelled:
      while socket.state == .connecting, !socket.isWaiting { await Task.yield() }
      if cause == .stopped { socket.stop() }
      if cause == .left { socket.leave("r") }
      if cause == .cancelled { joining.cancel() }
    case .tokenThrows, .unreachable:
      var states = socket.states.makeAsyncIterator()
      while let state = await states.next(), state == .connecting {}
      await pass(time, isDone)
    case .silent: await pass(time, isDone)
    case .neverStarted, .noToken, .refused, .forbidden: break
    }
    let words = await joining.value
    let expected =
      switch cause {
      case .neverStarted, .stopped: "the socket is stopped"
      case .left: "the room was left"
      case .noToken: "the token function returned none"
      case .tokenThrows: "the token function failed: keychain"
      case .unreachable: "no such host"
      case .silent: "expected a connection to the server, there is none"
      case .refused: "the server refused the token: no"
      case .forbidden: "the server refused the room: no"
      case .cancelled: "the task was cancelled"
      }
    #expect(words.contains(expected), "\(words)")
  }

  /// Lets the time pass until a wait has ended.
  private func pass(_ time: ManualTime, _ isDone: Flag) async {
    while !isDone.value.withLock({ $0 }) {
      time.pass(30_000)
      await Task.yield()
    }
  }
}
