import ParleyGatewayPorts
import ParleyOTWorkloads
import ParleyServer

/// 200 authors, each with one change in flight, at random positions of one note. Measures changes
/// per second when the note has `revisions` revisions, and when it has four times as many.
struct RandomPositions {
  private static let authors = 200
  /// The number of timed changes at each length.
  private static let sample = 20_000

  let revisions: Int

  /// - Returns: Whether the target was met.
  func run() throws -> Bool {
    let store = try StoreUnderTest()
    store.create("n")
    var random = SplitMix64(seed: 2)
    var length = 0
    var rates: [Int] = []
    for milestone in [revisions, 4 * revisions] {
      let sample = min(Self.sample, milestone / 2)
      write(to: milestone - sample, &length, store, &random)
      let start = microseconds()
      write(to: milestone, &length, store, &random)
      rates.append(sample * 1_000_000 / max(1, microseconds() - start))
      print("200 authors at \(milestone) revisions: \(rates[rates.count - 1]) changes a second")
    }
    let isMet = rates[1] * 10 >= rates[0] * 8
    print(isMet ? "target met" : "TARGET MISSED: at most a fifth slower in the longer note")
    return isMet
  }

  private func write(
    to end: Int, _ length: inout Int, _ store: StoreUnderTest, _ random: inout SplitMix64
  ) {
    while length < end {
      // All changes sent during a commit share the next one.
      let entries = (0..<min(Self.authors, end - length)).map { index in
        let now = length + index
        return StoreUnderTest.letter(
          now + 1, at: Int.random(in: 0...now, using: &random), of: now, author: index)
      }
      length += entries.count
      store.finish([.append(id: "n", epoch: StoreUnderTest.epoch, entries: entries)])
    }
  }
}
