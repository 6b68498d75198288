import ParleyGatewayPorts
import Glibc
import OTCore
import ParleyOTWorkloads
import ParleyServer

/// A note whose history grows by changes of hundreds of authors at random positions. Prints a line
/// of JSON at each milestone: the cost of a change, and the maximum cost of reading the newest
/// text.
struct LongHistory {
  private static let authors = 300
  /// The number of timed changes at each milestone.
  private static let sample = 10_000
  /// The number of reads of the newest text before each milestone, of which the slowest counts. A
  /// read costs least after a snapshot, and more than twice as much before the next, which is due
  /// when the text has doubled.
  private static let reads = 8

  let milestones: [Int]

  func run() throws {
    let store = try StoreUnderTest()
    store.create("n")
    var random = SplitMix64(seed: 3)
    var length = 0
    for milestone in milestones {
      let sample = min(Self.sample, milestone / 2)
      let (first, last) = (length, milestone - sample)
      var newest = 0
      for read in 1...Self.reads {
        write(to: first + (last - first) * read / Self.reads, &length, store, &random)
        let start = microseconds()
        store.finish([.text(id: "n", at: .revision(.max))])
        newest = max(newest, microseconds() - start)
      }
      let began = Self.processorMicroseconds()
      write(to: milestone, &length, store, &random)
      let change = Double(Self.processorMicroseconds() - began) / Double(sample)
      let middle = microseconds()
      store.finish([.text(id: "n", at: .revision(milestone / 2))])
      print(
        "{\"revisions\":\(milestone),\"change_microseconds\":\(change)"
          + ",\"newest_text_microseconds\":\(newest)"
          + ",\"middle_text_microseconds\":\(microseconds() - middle)}")
      fflush(nil)
    }
  }

  private func write(
    to end: Int, _ length: inout Int, _ store: StoreUnderTest, _ random: inout SplitMix64
  ) {
    while length < end {
      let entries = (0..<min(Self.authors, end - length)).map { index in
        let now = length + index
        return StoreUnderTest.letter(
          now + 1, at: Int.random(in: 0...now, using: &random), of: now, author: index)
      }
      length += entries.count
      store.finish([.append(id: "n", epoch: StoreUnderTest.epoch, entries: entries)])
    }
  }

  /// Returns the processor time of all threads of this process in microseconds.
  private static func processorMicroseconds() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Int(time.tv_sec) * 1_000_000 + Int(time.tv_nsec) / 1_000
  }
}

/// A store that grows to a size in megabytes, with notes of a hundred changes of ten kilobytes
/// each.
struct LargeStore {
  private static let changes = 100
  private static let changeBytes = 10_000

  let path: String
  let megabytes: Int

  func run() throws {
    let store = try StoreUnderTest(path: path)
    let texts = (0..<Self.changes).map { number in
      String(repeating: "Line \(number) of a long note. ", count: Self.changeBytes / 24)
    }
    var note = 0
    while StoreUnderTest.bytes(of: path) + StoreUnderTest.bytes(of: path + "-wal")
      < megabytes << 20
    {
      // Another run may have used the same file.
      let id = "large-\(getpid())-\(note)"
      note += 1
      store.create(DocumentID(id))
      var length = 0
      let entries = texts.enumerated().map { number, text in
        var operation = TextOperation()
        operation.retain(length)
        operation.insert(text)
        length += text.unicodeScalars.count
        return LogEntry(
          revision: number + 1, client: "client \(number % 7)", sequence: number + 1, digest: 1,
          operation: operation, author: "author", time: Timestamp(number + 1))
      }
      store.finish([.append(id: DocumentID(id), epoch: StoreUnderTest.epoch, entries: entries)])
    }
  }
}
