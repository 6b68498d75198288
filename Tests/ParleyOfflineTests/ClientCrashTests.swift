import Foundation
import ParleyJSON
import ParleyOTWorkloads
import ParleyClient
import Synchronization
import Testing

import ParleyOffline

@Suite("A client that is killed", .serialized)
struct ClientCrashTests {
  /// `KILLS`, for long runs.
  private static let kills =
    ProcessInfo.processInfo.environment["KILLS"].flatMap { Int($0) } ?? 20

  @Test("each edit and change that the client reported as stored reaches the server once")
  func crashes() async throws {
    let server = try GatewayProgram()
    try await server.makeNote("n")
    let backEnd = try BackEnd()
    defer { backEnd.close() }
    let folder = TemporaryFolder()
    var random = SplitMix64(seed: 11)
    var (kept, edited): (Set<Int>, Set<Int>) = ([], [])
    var next = 0
    func run(count: Int) throws -> Helper {
      try Helper(
        "parley-offline-victim",
        [server.address, backEnd.address, folder.path, "\(next)", "\(count)"])
    }
    func note(_ line: String) {
      let words = line.split(separator: " ")
      guard words.count == 2, let number = Int(words[1]) else { return }
      if words[0] == "kept" { kept.insert(number) } else { edited.insert(number) }
    }
    for _ in 0..<Self.kills {
      // Some answers are lost, too.
      if random.chance(30) { backEnd.state.withLock { $0.lostAnswers += 1 } }
      let victim = try run(count: 50)
      for _ in 0..<(1 + random.below(12)) {
        if let line = await victim.line() { note(line) }
      }
      victim.kill()
      while let line = await victim.line() { note(line) }
      next += 50
    }
    let last = try run(count: 0)
    while let line = await last.line(), line != "done" {}
    let text = try await ParleyService(server.address, as: "B", timeout: .seconds(600)).note("n")
      .text()
    let edits = text.split(separator: "<").compactMap { Int($0.dropLast()) }
    let made = backEnd.made.compactMap { line in
      line.firstMatch(of: /"number":(\d+)/).flatMap { Int($0.1) }
    }
    #expect(Set(edits).count == edits.count, "edits came twice")
    #expect(Set(made).count == made.count, "changes came twice")
    #expect(edited.subtracting(edits).isEmpty, "confirmed edits are missing")
    #expect(kept.subtracting(made).isEmpty, "kept changes are missing")
    #expect(kept.count >= Self.kills)
    // Comments go to the things that their process had created.
    for line in backEnd.made where line.contains("comments") {
      #expect(line.contains(#/\/things\/\d+\/comments/#))
    }
  }

  @Test("each change of values reaches the server once and in order")
  func changesOfValues() async throws {
    let server = try GatewayProgram()
    let folder = TemporaryFolder()
    var random = SplitMix64(seed: 12)
    var made = 0
    func run(count: Int) throws -> Helper {
      try Helper(
        "parley-offline-victim", ["values", server.address, folder.path, "\(count)"])
    }
    func note(_ line: String) {
      if line.hasPrefix("made "), let number = Int(line.dropFirst(5)) { made = number }
    }
    for _ in 0..<(Self.kills / 2) {
      let victim = try run(count: 50)
      for _ in 0..<(1 + random.below(20)) {
        if let line = await victim.line() { note(line) }
      }
      victim.kill()
      while let line = await victim.line() { note(line) }
    }
    let last = try run(count: 1)
    while let line = await last.line(), line != "done" { note(line) }
    let reader = await read(server)
    // A change that was shown may be killed before it was stored: then the next process makes it again.
    #expect(reader == ["count": made, "last": made])
  }

  @MainActor private func read(_ server: GatewayProgram) async -> [String: Int] {
    let parley = Parley(server.address, as: "B", timeout: .seconds(600))
    let values = parley.room("r").values(of: Int.self)
    while !values.isReady { await Task.yield() }
    return values.all
  }
}
