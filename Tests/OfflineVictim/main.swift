// A client that a test kills: it writes in a note and adds changes, numbered on from where the one
// before was killed, and says each once it is on the disk.
// Once the store does not take something, it says so and ends with 3.
//
//     [PARLEY_TOKEN=…] parley-offline-victim PARLEY API FOLDER FIRST COUNT
//
// Or it changes values of a room, and says how many changes it has made.
//
//     parley-offline-victim values PARLEY FOLDER COUNT
import Foundation
import ParleyClient
import ParleyJSON
import ParleyOffline

let arguments = CommandLine.arguments
if arguments.count == 5, arguments[1] == "values", let count = Int(arguments[4]) {
  try await changeValues(arguments[2], arguments[3], count: count)
  exit(0)
}
guard arguments.count == 6, let first = Int(arguments[4]), let count = Int(arguments[5]) else {
  fatalError("usage: parley-offline-victim PARLEY API FOLDER FIRST COUNT")
}

func say(_ line: String) {
  print(line)
  fflush(nil)
}

func end(_ reason: some Error) -> Never {
  say("refused: \(reason)")
  exit(3)
}

/// Makes changes of which each adds one to a value and sets another to the sum.
@MainActor func changeValues(_ address: String, _ folder: String, count: Int) async throws {
  let storage = try FileStorage(folder: folder)
  let parley = Parley(address, as: "victim", storage: storage, timeout: .seconds(600))
  let values = parley.room("r").values(of: Int.self)
  while !values.isReady { await Task.yield() }
  // A change of the process before may be among the values, and shown over them until its answer.
  while try await !storage.keys(beginningWith: "values/").isEmpty { await Task.yield() }
  var number = values["count"] ?? 0
  for _ in 0..<count {
    number += 1
    let edits: [ValueEdit] = [.add("count", 1), .set("last", to: JSONValue(number))]
    if number % 3 == 0 {
      try await values.change(edits)
    } else {
      Task { try await values.change(edits) }
      while values["count"] != number { await Task.yield() }
    }
    say("made \(number)")
  }
  while try await !storage.keys(beginningWith: "values/").isEmpty {}
  say("done")
}

func opened(_ folder: String) -> OfflineStore {
  do { return try OfflineStore(folder: folder) } catch { end(error) }
}

/// Signs in by the token that the environment has, if it has one.
func credentials() -> CredentialsSource? {
  guard let token = ProcessInfo.processInfo.environment["PARLEY_TOKEN"] else { return nil }
  return { _ in Credentials(user: "me", token: token) }
}

func token() -> TokenSource? {
  guard let token = ProcessInfo.processInfo.environment["PARLEY_TOKEN"] else { return nil }
  return { token }
}

let store = opened(arguments[3])
let sender = RESTService(arguments[2], credentials: credentials())
let outbox = try Outbox(store, user: "me", sender: sender)
let service = ParleyService(arguments[1], as: "victim", storage: store, token: token())
let note = await service.note("n")
say("open")
var things: [ResourceID] = []
for number in first..<(first + count) {
  let body = Array(#"{"number":\#(number)}"#.utf8)
  var draft = MutationDraft(.create, "things", .temporary(), body: body)
  if let thing = things.last, number % 3 != 0 {
    draft = MutationDraft(.action("comments"), "things", thing, body: body)
  } else {
    things.append(draft.id)
  }
  do { _ = try await outbox.add(draft) } catch { end(error) }
  say("kept \(number)")
  // The edit returns once the server has stored it; killed before that, the next process restores
  // it.
  try await note.append("<\(number)>")
  say("edited \(number)")
}
try await note.opened()
try await note.saved()
for await left in await outbox.counts where left == 0 { break }
say("done")
