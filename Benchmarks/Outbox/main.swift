// The throughput of an outbox on this machine's disk, with a server in the same process that
// answers immediately.
//
//     parley-outbox-bench FOLDER [COUNT [http://127.0.0.1:8080]]
//
// Also prints the disk's limit: the same bytes appended to a file, each synced. With the address of
// a running server, prints a bot's edits there, and the memory of idle notes.
import Foundation
import ParleyOffline
import Synchronization

/// A server that answers immediately, or not at all while it is unavailable.
final class InProcessServer: MutationSender, Sendable {
  private let isThere = Atomic(false)
  private let lastID = Atomic<Int64>(0)

  func come() { isThere.store(true, ordering: .relaxed) }

  func send(_ request: MutationRequest) async -> MutationAnswer {
    guard isThere.load(ordering: .relaxed) else { return .unreachable }
    guard request.kind == .create else { return .done() }
    return .done(id: ResourceID(lastID.add(1, ordering: .relaxed).newValue))
  }
}

/// Prints the rate of some work, and the processor time of each item.
func measure(_ name: String, _ count: Int, _ work: () async throws -> Void) async rethrows {
  let start = ContinuousClock.now
  let used = clock()
  try await work()
  let seconds = start.duration(to: .now) / .seconds(1)
  let micros = Double(clock() - used) / Double(CLOCKS_PER_SEC) * 1e6 / Double(count)
  print("\(name): \(Int(Double(count) / seconds))/s, \(Int(micros)) µs of processor time each")
}

/// Appends items to a file, and syncs each before the next.
func writeSynced(_ count: Int, in folder: String) throws {
  let path = folder + "/floor"
  _ = FileManager.default.createFile(atPath: path, contents: nil)
  let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
  for number in 0..<count {
    try file.write(contentsOf: Data(body(number)))
    fdatasync(file.fileDescriptor)
  }
  try file.close()
  try FileManager.default.removeItem(atPath: path)
}

let arguments = CommandLine.arguments
precondition(arguments.count >= 2, "usage: parley-outbox-bench FOLDER [COUNT]")
let count = arguments.count > 2 ? Int(arguments[2]) ?? 5_000 : 5_000
let server = InProcessServer()
let store = try OfflineStore(folder: arguments[1])
let outbox = try Outbox(store, user: "me", sender: server)

func body(_ number: Int) -> [UInt8] {
  Array(#"{"number":\#(number),"text":"\#(String(repeating: "x", count: 150))"}"#.utf8)
}

try await measure("floor: 200 B to a file, synced each time", count) {
  try writeSynced(count, in: arguments[1])
}
try await measure("creates added offline, 200 B", count) {
  for number in 0..<count {
    try await outbox.add(MutationDraft(.create, "things", .temporary(), body: body(number)))
  }
}
try await measure("updates of one thing, merged", count) {
  for number in 0..<count {
    try await outbox.add(MutationDraft(.update, "things", 0, body: body(number)))
  }
}
server.come()
await outbox.networkChanged()
await measure("sent one after the other", count) {
  for await left in await outbox.counts where left == 0 { break }
}
if arguments.count > 3 { try await Bot.run(arguments[3], count: min(count, 1_000)) }
print("checksum: \(await outbox.count)")
