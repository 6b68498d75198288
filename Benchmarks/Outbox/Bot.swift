import Foundation
import ParleyClient
import ParleyOffline

/// A bot's edits, and idle notes, on a running server.
enum Bot {
  static func run(_ address: String, count: Int) async throws {
    let service = ParleyService(
      address.replacing("http", with: "ws", maxReplacements: 1), as: "bot")
    let notes = try await makeNotes(16, named: "busy", at: address)
    let first = await service.note(notes[0])
    try await first.opened()
    try await measure("a bot's edits, one after the other", count) {
      for number in 0..<count { try await first.append("\(number) ") }
    }
    for id in notes { try await service.note(id).opened() }
    try await measure("a bot's edits, 16 notes side by side", 16 * count) {
      try await withThrowingTaskGroup { group in
        for id in notes {
          group.addTask {
            let note = await service.note(id)
            for number in 0..<count { try await note.append("\(number) ") }
          }
        }
        try await group.waitForAll()
      }
    }
    await service.stop()
    try await idle(address)
  }

  /// Prints the memory of an open, idle note, from the difference between few and many notes.
  private static func idle(_ address: String) async throws {
    let idle = ParleyService(address.replacing("http", with: "ws", maxReplacements: 1), as: "idle")
    let ids = try await makeNotes(1_100, named: "idle", at: address)
    for id in ids[..<100] { try await idle.note(id).opened() }
    let before = resident
    for id in ids[100...] { try await idle.note(id).opened() }
    print("an idle note of a service: \((resident - before) / 1_000) bytes of resident memory")
    await idle.stop()
  }

  /// Creates empty notes.
  private static func makeNotes(
    _ count: Int, named name: String, at address: String
  ) async throws -> [String] {
    let run = String(UInt32.random(in: .min ... .max), radix: 36)
    let ids = (0..<count).map { "\(name)-\(run)-\($0)" }
    for id in ids {
      let answer = try await SystemWebTransport().send(
        WebRequest("PUT", "\(address)/api/notes/\(id)", body: Array(#"{"title":"A note"}"#.utf8)))
      precondition(answer.status == 201, "expected 201 for a note, got \(answer.status)")
    }
    return ids
  }

  /// The resident memory of this process in bytes.
  private static var resident: Int {
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
  }
}
