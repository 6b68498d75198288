// A board in a terminal: prints its columns whenever they change, and takes changes from the keyboard.
//
//     parley-example-board ws://127.0.0.1:8080 plans Bo
//     add Soup
//     move card-7 done
//     delete card-7
//     show
//
// BoardApp.swift has views of the same model.
import Foundation
import Observation
import ParleyClient

let arguments = CommandLine.arguments
precondition(arguments.count == 4, "usage: parley-example-board ADDRESS BOARD NAME")
let parley = Parley(arguments[1], as: arguments[3])
let board = Board(parley.room(arguments[2]), for: arguments[3])

/// Prints a line at once. `fflush(nil)` would wait for the thread below, which reads.
func show(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

@MainActor func printed() -> String {
  Board.columns.map { column in
    let cards = board.cards(in: column).map { "\($0.card.text) (\($0.name))" }
    return "\(column): \(cards.joined(separator: ", "))"
  }.joined(separator: "; ") + "; moves: \(board.moves)"
}

@MainActor func run(_ line: String) async throws {
  let words = line.split(separator: " ", maxSplits: 2).map(String.init)
  switch (words.first, words.count) {
  case ("add", 2...): try await board.add(words[1...].joined(separator: " "))
  case ("move", 3): try await board.move(words[1], to: words[2])
  case ("delete", 2): try await board.delete(words[1])
  case ("show", 1): show(String(decoding: try JSONEncoder().encode(board.cards.all), as: UTF8.self))
  default: show("expected add TEXT, move CARD COLUMN, delete CARD, or show")
  }
}

Task {
  for await line in Observations({ board.cards.isReady ? printed() : "opening" }) { show(line) }
}
let lines = AsyncStream { lines in
  Thread.detachNewThread {
    while let line = readLine() { lines.yield(line) }
    lines.finish()
  }
}
for await line in lines {
  // Without waiting: a change shows at once, and is stored later.
  Task {
    do {
      try await run(line)
      show("stored: \(line)")
    } catch {
      show("not stored: \(line): \(error)")
    }
  }
}
