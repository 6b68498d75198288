import Foundation
import ParleyLocks
import ParleyClient
import SocketMessages
import Testing

/// Files that the client of 0.1.0 stored on a device.
///
/// `Scripts/make_fixtures.py` makes the files of another version with the second test.
@MainActor @Suite("State kept by 0.1.0", .timeLimit(.minutes(30)))
struct KeptStateTests {
  private static let fixture = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Fixtures/0.1.0/swift-client")
  nonisolated static let target = ProcessInfo.processInfo.environment["FIXTURES_TO"]

  private func connect(_ server: ScriptedServer, _ folder: String) throws -> Parley {
    Parley(
      transport: server, as: "Ann", storage: try FileStorage(folder: folder), time: ManualTime(),
      token: nil, seed: 1)
  }

  @Test("unsent edits are sent once, by the client that made them")
  func edits() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("parley-kept-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.copyItem(at: Self.fixture, to: folder)
    let server = ScriptedServer("text é")
    let parley = try connect(server, folder.path)
    let note = parley.note("n")
    try await note.opened()
    try await note.saved()
    #expect(server.text == "text é🐦")
    #expect(server.state.withLock { $0.client } == "A1")
    parley.stop()
  }

  @Test("writes the files", .enabled(if: target != nil))
  func write() async throws {
    let folder = try #require(Self.target) + "/swift-client"
    let server = ScriptedServer("text é")
    server.set { $0.refusal = .busy }
    let parley = try connect(server, folder)
    let note = parley.note("n")
    try await note.opened()
    try note.append("🐦")
    parley.willSuspend()
    let file = folder + "/=note%2fn"
    while !FileManager.default.fileExists(atPath: file) { await Task.yield() }
    parley.stop()
  }
}
