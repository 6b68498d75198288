// A bot that keeps the to-do list in a note tidy, together with all others who write in it:
//
//     parley-example-todo-bot ws://127.0.0.1:8080 n-1
//
// A line `todo: milk` becomes `[ ] milk`, and `done: milk` ticks that line.
import ParleyClient

/// The text with all orders in it carried out.
func tidied(_ text: String) -> String {
  var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  // The last line is being written until a newline ends it.
  for index in lines.indices.dropLast().reversed() {
    if lines[index].hasPrefix("todo: ") {
      lines[index] = "[ ] " + lines[index].dropFirst(6)
    } else if lines[index].hasPrefix("done: ") {
      let open = "[ ] " + lines[index].dropFirst(6)
      lines.remove(at: index)
      if let line = lines.firstIndex(of: open) {
        lines[line] = "[x] " + open.dropFirst(4)
      }
    }
  }
  return lines.joined(separator: "\n")
}

precondition(CommandLine.arguments.count == 3, "usage: parley-example-todo-bot ADDRESS NOTE")
let service = ParleyService(CommandLine.arguments[1], as: "to-do bot")
let note = await service.note(CommandLine.arguments[2])
try await note.opened()
for await _ in await note.updates {
  try await note.edit { text in text = tidied(text) }
}
