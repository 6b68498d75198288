import ParleyClient
import ParleyClientCore
import ParleyLocks
import SocketMessages
import Testing

/// Each call that waits for the server, and each reason for which the server gives no answer.
@MainActor @Suite("Every await ends", .timeLimit(.minutes(30)))
struct AwaitTests {
  enum Cause: CaseIterable {
    case noToken, refused, expired, revoked, throwsOnce, throwsAlways, noServer
    case silent, stopped, closed, cancelled, storageFull

    /// Whether the call returns.
    var isSuccess: Bool { self == .throwsOnce || self == .storageFull }
  }

  enum Call: CaseIterable {
    case noteOpened, noteSaved, roomOpened, roomPublish, request
    case serviceText, serviceOpened, serviceSaved, serviceAppend, serviceReplace, serviceEdit
    case serviceMerge, serviceRoomOpened, servicePublish
  }

  struct LoginFailed: Error, CustomStringConvertible { let description = "no answer of the login" }

  /// A server, a clock and the settings of a client, for one cause.
  @MainActor final class Scene {
    let server = ScriptedServer("text")
    let time = ManualTime()
    let storage = ScriptedStorage()
    let tokens = Locked(0)
    let entries = Locked<[ClientLogEntry]>([])
    let cause: Cause
    var models: Parley?
    var service: ParleyService?

    init(_ cause: Cause) async {
      self.cause = cause
      if cause == .storageFull { await storage.fillUp() }
      server.set { state in
        state.answersRooms = true
        switch cause {
        case .refused: state.helloRefusal = .unauthorised
        case .expired: state.helloEnd = CloseReason.tokenExpired.rawValue
        case .revoked: state.helloEnd = CloseReason.revoked.rawValue
        case .noServer, .stopped, .cancelled: state.isGone = true
        case .silent: state.isSilent = true
        default: break
        }
      }
    }

    private var token: TokenSource {
      { [cause, tokens] in
        let count = tokens.withLock { count in
          count += 1
          return count
        }
        switch cause {
        case .noToken: return nil
        case .throwsAlways: throw LoginFailed()
        case .throwsOnce where count == 1: throw LoginFailed()
        default: return "secret"
        }
      }
    }

    private var log: ClientLog { { [entries] entry in entries.withLock { $0.append(entry) } } }

    func connectModels() -> Parley {
      let parley = Parley(
        transport: server, as: "Ann", storage: storage, time: time, token: token,
        log: log, seed: 1)
      models = parley
      return parley
    }

    func connectService() -> ParleyService {
      let service = ParleyService(
        transport: server, as: "Ann", storage: storage, time: time, token: token,
        log: log, seed: 1)
      self.service = service
      return service
    }

    /// Whether only time can end the call: the client tries nothing more, and other causes need no
    /// time at all.
    var needsTime: Bool {
      get async {
        switch cause {
        case .expired, .throwsOnce, .throwsAlways, .noServer: await problem != nil
        case .silent: await connection != .connecting
        case .noToken, .refused, .revoked, .stopped, .closed, .cancelled, .storageFull: false
        }
      }
    }

    var problem: String? {
      get async { if let models { models.problem } else { await service?.problem } }
    }

    private var connection: ConnectionState? {
      get async { if let models { models.connection } else { await service?.connection } }
    }

    func stop() async {
      models?.stop()
      await service?.stop()
    }

    func run(_ call: Call) async throws {
      switch call {
      case .noteOpened, .noteSaved, .roomOpened, .roomPublish, .request:
        try await run(call, on: connectModels())
      default: try await run(call, on: connectService())
      }
    }

    private func run(_ call: Call, on parley: Parley) async throws {
      let (note, room) = (parley.note("n"), parley.room("r"))
      if cause == .closed {
        note.close()
        room.close()
        // A request belongs to the connection.
        if call == .request { parley.stop() }
      }
      switch call {
      case .noteOpened: try await note.opened()
      case .noteSaved: try await note.saved()
      case .roomOpened: try await room.opened()
      case .roomPublish: try await room.publish(json: Array("1".utf8))
      default: _ = try await parley.ask(.blocks, \.blocks)
      }
    }

    private func run(_ call: Call, on service: ParleyService) async throws {
      let (note, room) = (await service.note("n"), await service.room("r"))
      if cause == .closed {
        await note.close()
        await room.close()
      }
      switch call {
      case .serviceText: #expect(try await note.text() == "text")
      case .serviceOpened: try await note.opened()
      case .serviceSaved: try await note.saved()
      case .serviceAppend: try await note.append("y")
      case .serviceReplace: try await note.replace(0..<1, with: "y")
      case .serviceEdit: try await note.edit { $0 += "y" }
      case .serviceMerge: try await note.merge("texty", madeFrom: "text")
      case .serviceRoomOpened: try await room.opened()
      default: try await room.publish(json: Array("1".utf8))
      }
    }
  }

  /// What a call has thrown, of any of the four types of errors.
  private func reason(_ error: any Error) -> NoAnswer? {
    switch error {
    case NoteError.noAnswer(let reason), RoomError.noAnswer(let reason),
      PublishError.noAnswer(let reason), RequestError.noAnswer(let reason):
      reason
    default: nil
    }
  }

  private func fits(_ error: any Error, _ cause: Cause) -> Bool {
    switch (cause, reason(error)) {
    case (.noToken, .stopped(.noToken)?), (.stopped, .stopped(.asked)?): true
    // In the time of this test, an answer to a ping may be too late for the client.
    case (.silent, .late?), (.silent, .unreachable?): true
    case (.refused, .stopped(.refused(let refusal))?): refusal.code == "unauthorised"
    case (.revoked, .stopped(.closed(4508))?): true
    case (.expired, .unreachable(let problem?)?): problem.contains("has expired")
    case (.throwsAlways, .unreachable(let problem?)?): problem.contains("no answer of the login")
    case (.noServer, .unreachable(let problem?)?): problem.contains("Gone")
    case (.closed, .stopped(.asked)?): true
    case (.closed, nil): "\(error)".contains("closed")
    case (.cancelled, nil): "\(error)".contains("cancelled")
    default: false
    }
  }

  @Test(
    "a call ends in bounded time, with an error in words", arguments: Cause.allCases, Call.allCases)
  func ends(cause: Cause, call: Call) async {
    let scene = await Scene(cause)
    let isDone = Locked(false)
    let work = Task { @MainActor in
      defer { isDone.withLock { $0 = true } }
      try await scene.run(call)
    }
    while scene.models == nil, scene.service == nil { await Task.yield() }
    if cause == .stopped {
      while await scene.problem == nil { await Task.yield() }
      await scene.stop()
    }
    if cause == .cancelled { work.cancel() }
    while !isDone.withLock({ $0 }) {
      if await scene.needsTime { scene.time.passToNext(within: cause.isSuccess ? 5_000 : .max) }
      await Task.yield()
      guard scene.time.now <= 250_000 else {
        Issue.record("it still waits")
        return work.cancel()
      }
    }
    switch await work.result {
    case .success: #expect(cause.isSuccess)
    case .failure(let error):
      #expect(!cause.isSuccess && fits(error, cause), "\(error)")
      #expect("\(error)".split(separator: " ").count >= 4)
    }
    #expect(scene.time.now <= 150_000)
    await checkProblem(scene)
  }

  /// A failure before or after the socket is a problem in words, and in the log.
  private func checkProblem(_ scene: Scene) async {
    let problem = await scene.problem
    let entries = scene.entries.withLock { $0 }
    switch scene.cause {
    case .noToken, .refused, .expired, .revoked, .throwsAlways, .noServer:
      #expect(problem != nil)
      #expect(entries.contains { $0.details["problem"] == problem })
    case .throwsOnce: #expect(problem == nil && entries.contains { $0.details["problem"] != nil })
    case .silent, .closed, .storageFull, .stopped, .cancelled: break
    }
    #expect(!entries.contains { "\($0)".contains("secret") })
  }

  @Test func `opening a missing note fails as unknownNote, and deletion is a state`() async {
    let server = ScriptedServer("text")
    server.set { $0.joinRefusal = .unknownDocument }
    let parley = Parley(transport: server, as: "Ann", time: ManualTime(), seed: 1)
    let error = await #expect(throws: NoteError.self) { try await parley.note("n").opened() }
    #expect(error == .failed(.unknownNote))
    #expect(error.map { "\($0)" } == "no note has this id; create it first")
    #expect(parley.note("n").state == .failed(.unknownNote))
    server.set { $0.joinRefusal = nil }
    parley.note("n").reopen()
    await #expect(throws: Never.self) { try await parley.note("n").opened() }
    server.set {
      $0.connection?.push(.documentChanged(.init(documentID: "n", title: nil, deleted: true)))
    }
    await until { parley.note("n").state == .deleted }
  }

  @Test func `signing in while the connection waits fails no waiting call`() async throws {
    let server = ScriptedServer("text")
    let time = ManualTime()
    server.set { $0.isGone = true }
    let parley = Parley(transport: server, as: "Ann", time: time, seed: 1)
    let note = parley.note("n")
    let opened = Task { try await note.opened() }
    await until { parley.connection == .waiting }
    server.set { $0.isGone = false }
    parley.signedIn()
    try await opened.value
  }
}
