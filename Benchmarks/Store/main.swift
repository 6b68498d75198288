import Glibc

// parley-store-bench [REVISIONS]
//
// Measures the store's threads, without sockets: how long typists wait for their commits while
// somebody reads another note's past, and how many changes a second 200 authors make at random
// places of a long note. Ends with 1 if a target is missed.

let revisions = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1]) : 300_000
guard let revisions, revisions >= 1_000 else {
  complain("usage: parley-store-bench [REVISIONS], 1000 at least")
  exit(2)
}
do {
  let reading = try TypingBesideReading(revisions: revisions).run()
  let places = try RandomPlaces(revisions: revisions / 3).run()
  exit(reading && places ? 0 : 1)
} catch {
  complain("parley-store-bench: \(error)")
  exit(1)
}

/// Writes a line to standard error.
func complain(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  _ = write(STDERR_FILENO, bytes, bytes.count)
}
