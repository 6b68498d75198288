import ParleyClient
import ParleyUI
import Testing

/// The end of the app's time on the screen.
@MainActor @Suite("An app's phases", .timeLimit(.minutes(30)))
struct PhaseTests {
  @MainActor final class Time: BackgroundTime {
    private(set) var log: [String] = []
    private(set) var expire: (@MainActor @Sendable () -> Void)?
    func begin(_ expired: @escaping @MainActor @Sendable () -> Void) {
      log.append("begin")
      expire = expired
    }
    func end() { log.append("end") }
  }

  enum End: CaseIterable { case confirmed, expired, foreground }

  @Test(
    "edits are sent in the background until all are confirmed, or the time ends",
    arguments: End.allCases)
  func background(_ end: End) async throws {
    let server = ScriptedServer("abc")
    let parley = Parley(transport: server, as: "Ann", time: ManualTime(), seed: 1)
    let note = parley.note("n")
    try await note.opened()
    let time = Time()
    let follower = PhaseFollower(parley, time: time)
    follower.enterBackground()
    #expect(time.log == [], "nothing is to be sent")
    server.set { $0.holdsAnswers = true }
    try note.append("!")
    follower.enterBackground()
    follower.enterBackground()
    #expect(time.log == ["begin"])
    switch end {
    case .confirmed:
      server.answer()
      await until { parley.unsaved == 0 }
    case .expired: time.expire?()
    case .foreground: follower.enterForeground()
    }
    while time.log.count < 2 { await Task.yield() }
    #expect(time.log == ["begin", "end"])
  }
}
