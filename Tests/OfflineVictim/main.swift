// A client that a test kills: it writes in a note and adds changes, numbered on from where the one
// before was killed, and says each once it is on the disk.
//
//     offline-victim PARLEY API FOLDER FIRST COUNT
import Foundation
import ParleyClient
import ParleyOffline

let arguments = CommandLine.arguments
guard arguments.count == 6, let first = Int(arguments[4]), let count = Int(arguments[5]) else {
  fatalError("usage: offline-victim PARLEY API FOLDER FIRST COUNT")
}

func say(_ line: String) {
  print(line)
  fflush(nil)
}

let store = try OfflineStore(folder: arguments[3])
let outbox = try Outbox(store, user: "me", sender: RESTService(arguments[2]))
let service = ParleyService(arguments[1], as: "victim", storage: store)
let note = await service.note("n")
say("open")
var things: [ResourceID] = []
for number in first..<(first + count) {
  let body = Array(#"{"number":\#(number)}"#.utf8)
  if let thing = things.last, number % 3 != 0 {
    try await outbox.add(MutationDraft(.action("comments"), "things", thing, body: body))
  } else {
    let thing = ResourceID.temporary()
    try await outbox.add(MutationDraft(.create, "things", thing, body: body))
    things.append(thing)
  }
  say("kept \(number)")
  // The edit returns once the server has it; killed before that, it goes on from the store.
  try await note.append("<\(number)>")
  say("edited \(number)")
}
try await note.opened()
try await note.saved()
for await left in await outbox.counts where left == 0 { break }
say("done")
