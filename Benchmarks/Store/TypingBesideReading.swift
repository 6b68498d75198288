import Gateway
import ParleyGatewayPorts
import ParleyOTWorkloads
import ParleyServer

/// Twenty typists on one note, alone and while a reader reads another note's history.
struct TypingBesideReading {
  private static let typists = 20
  private static let seconds = 20
  /// The pause between two letters of one typist.
  private static let pauseMicroseconds = 200_000
  private static let readingMicroseconds = 200_000

  let revisions: Int

  /// - Returns: Whether the target was met.
  func run() throws -> Bool {
    let store = try StoreUnderTest()
    store.create("typed")
    store.create("long")
    print("making a note of \(revisions) revisions")
    var random = SplitMix64(seed: 1)
    for start in stride(from: 0, to: revisions, by: 500) {
      let entries = (start..<min(start + 500, revisions)).map { length in
        StoreUnderTest.letter(
          length + 1, at: Int.random(in: 0...length, using: &random), of: length,
          author: length / 10 % 200)
      }
      store.finish([.append(id: "long", epoch: StoreUnderTest.epoch, entries: entries)])
    }
    var length = 0
    let alone = type(into: store, &length, reading: nil)
    print(row("alone", alone))
    var isMet = true
    let middle = revisions / 2
    let reads: [(String, StoreRequest)] = [
      ("beside /history?limit=100", .history(id: "long", after: 0, limit: 100, pause: 60_000)),
      ("beside /text", .text(id: "long", at: .revision(.max))),
      ("beside /text?revision=", .text(id: "long", at: .revision(middle))),
      ("beside /text?time=", .text(id: "long", at: .time(Timestamp(middle)))),
    ]
    for (name, read) in reads {
      let beside = type(into: store, &length, reading: read)
      print(row(name, beside))
      let (before, after) = (permille(990, of: alone), permille(990, of: beside))
      isMet = isMet && after <= max(2 * before, before + 5_000)
    }
    print(isMet ? "target met" : "TARGET MISSED: p99 at most twice, or 5 ms more than, alone")
    return isMet
  }

  private func row(_ name: String, _ waits: [Int]) -> String {
    "\(name): \(waits.count) changes, p50 \(permille(500, of: waits)) µs, "
      + "p95 \(permille(950, of: waits)) µs, p99 \(permille(990, of: waits)) µs"
  }

  /// Types for a while. Returns each change's wait for its commit in microseconds.
  private func type(
    into store: StoreUnderTest, _ length: inout Int, reading read: StoreRequest?
  ) -> [Int] {
    var waits: [Int] = []
    let step = Self.pauseMicroseconds / Self.typists
    var nextLetter = microseconds()
    var nextRead = nextLetter
    let end = nextLetter + Self.seconds * 1_000_000
    var open: [StoreTicket: Int] = [:]
    while microseconds() < end || !open.isEmpty {
      let now = microseconds()
      if now >= nextLetter, now < end {
        nextLetter += step
        let entry = StoreUnderTest.letter(
          length + 1, at: length, of: length, author: length % Self.typists)
        length += 1
        for ticket in store.submit([
          .append(id: "typed", epoch: StoreUnderTest.epoch, entries: [entry])
        ]) {
          open[ticket] = now
        }
      }
      if let read, now >= nextRead, now < end {
        nextRead += Self.readingMicroseconds
        store.submit([read])
      }
      let pause = max(0, min(nextLetter, end) - microseconds()) / 1_000
      for completion in store.completions(atMostMilliseconds: open.isEmpty ? pause : max(pause, 1))
      {
        if let since = open.removeValue(forKey: completion.ticket) {
          waits.append(microseconds() - since)
        }
      }
    }
    return waits
  }
}
