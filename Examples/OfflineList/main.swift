// A list that works without a server: prints it whenever it changes, and takes changes from the keyboard.
//
//     parley-example-offline-list ws://127.0.0.1:8080 http://127.0.0.1:9000 FOLDER
//     add milk
//     done 7
//     drop 7
//
// What has a star waits for the server, also if the program is ended and started again.
import Foundation
import ParleyClient
import ParleyOffline

struct Item: OfflineModel {
  var id = ResourceID.temporary()
  var name: String
  var done = false
}

let arguments = CommandLine.arguments
precondition(arguments.count == 4, "usage: parley-example-offline-list PARLEY API FOLDER")
let service = RESTService(arguments[2])
let outbox = try Outbox(OfflineStore(folder: arguments[3]), user: "me", sender: service)
let parley = ParleyService(arguments[1], as: "list")
let items = Repository<Item>(
  RESTSource(service, "items"), "items", in: outbox,
  invalidatedBy: await parley.room("items").updates)

/// Prints a line at once. `fflush(nil)` would wait for the thread below, which reads.
@Sendable func show(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
Task {
  for try await list in items.fetchAll() {
    let words = list.map {
      "\($0.id.isTemporary ? "*" : "\($0.id)") \($0.name)\($0.done ? " ✓" : "")"
    }
    show(words.joined(separator: ", "))
  }
}
Task {
  for await problems in await outbox.problems {
    for problem in problems { show("not taken: \(problem.state)") }
  }
}
let lines = AsyncStream { lines in
  Thread.detachNewThread {
    while let line = readLine() { lines.yield(line) }
    lines.finish()
  }
}
for await line in lines {
  let words = line.split(separator: " ", maxSplits: 1).map(String.init)
  guard words.count == 2 else { continue }
  let id = ResourceID(Int64(words[1]) ?? 0)
  switch words[0] {
  case "add": try await items.save(Item(name: words[1]))
  case "done": try await items.change(id) { $0.done = true }
  default: try await items.delete(id)
  }
}
