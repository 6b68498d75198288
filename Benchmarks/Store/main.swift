import Glibc

// parley-store-bench [REVISIONS]
// parley-store-bench history REVISIONS…
// parley-store-bench fill FILE MEGABYTES
//
// Measures the store's threads, without sockets: how long typists wait for commits while a reader
// reads another note's history, and the changes per second of 200 authors at random positions of a
// long note. Exits with status 1 if a target is missed. `history` prints the cost of a change and
// of a text at some lengths; `fill` makes a large store, for measuring how long other programs take
// to read it.

let words = Array(CommandLine.arguments.dropFirst())
do {
  switch words.first {
  case "history":
    try LongHistory(milestones: words.dropFirst().compactMap { Int($0) }).run()
    exit(0)
  case "fill":
    guard words.count == 3, let megabytes = Int(words[2]) else { usage() }
    try LargeStore(path: words[1], megabytes: megabytes).run()
    exit(0)
  default: break
  }
  let revisions = words.isEmpty ? 300_000 : Int(words[0])
  guard let revisions, revisions >= 1_000 else { usage() }
  let reading = try TypingBesideReading(revisions: revisions).run()
  let places = try RandomPositions(revisions: revisions / 3).run()
  exit(reading && places ? 0 : 1)
} catch {
  complain("parley-store-bench: \(error)")
  exit(1)
}

func usage() -> Never {
  complain(
    """
    usage: parley-store-bench [REVISIONS], 1000 at least
           parley-store-bench history REVISIONS…
           parley-store-bench fill FILE MEGABYTES
    """)
  exit(2)
}

/// Writes a line to standard error.
func complain(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  _ = write(STDERR_FILENO, bytes, bytes.count)
}
