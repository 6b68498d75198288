import ParleyGatewayPorts
import ParleyJSON
import ParleyStoreSQLite
import Testing

/// Work counted in instructions of SQLite's virtual machine. The counts are the same in every run,
/// and show immediately if a request reads more than its answer needs.
@Suite("The work of SQLite for requests and housekeeping")
struct StoreWorkTests {
  /// The rows whose work grows with the store.
  private static let growing: Set<String> = [
    // Their answers or changes grow in the same way.
    "list", "append of many entries", "versions", "compact", "quote", "receipts", "members",
    "blocks", "deleteGroup", "likes", "listFiles", "searchFiles", "listComments", "listNames",
    // They count rows up to a limit.
    "like", "read", "putFile", "addComment", "keepAnswer",
    // It removes the oldest rows beyond a limit.
    "addNotice",
    // One sorts the flags of one publication; the other scans the files every ten minutes.
    "flags", "unsettledFiles",
  ]

  @Test(
    "a request does as much in a store of eight times the size, unless its answer is as large",
    arguments: StoreGrowthTests.table)
  func requests(row: StoreGrowthTests.Row) {
    let small = row.instructions(StoreGrowthTests.Row.size)
    let large = row.instructions(8 * StoreGrowthTests.Row.size)
    let grows = large > small + small / 4 + 20
    #expect(
      grows == Self.growing.contains(row.description),
      "\(row): \(small) instructions, and \(large) at eight times the size")
  }

  @Test("data of removed publications is searched in portions")
  func orphans() throws {
    func work(_ count: Int) throws -> (most: Int, receipts: Int) {
      let folder = try TemporaryFolder(isInMemory: true)
      let store = try SQLiteStore(path: folder.file())
      let retention = RoomRetention(publicationsMax: 1, ageMax: 1 << 40)
      func publish(at time: Timestamp) {
        let draft = PublicationDraft(key: nil, time: time, personID: nil, data: .null)
        #expect(store.error(.room(.publish("r", draft, retention: retention, keyAge: 1))) == nil)
      }
      publish(at: 1)
      let other = try SecondConnection(folder.file())
      for table in ["receipts", "likes"] {
        // Half of the rows belong to a publication that no longer exists.
        try other.run(
          """
          WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < \(count))
          INSERT INTO \(table) SELECT 1, n % 2, 'person ' || n, 1 FROM n
          """)
      }
      // The store trusts a time after it has seen another one that is an hour later.
      publish(at: 4_000_000)
      publish(at: 8_000_000)
      publish(at: 12_000_000)
      try other.run("UPDATE publications SET offset = 1")
      var most = 0
      var hasMore = true
      while hasMore {
        most = max(most, store.instructions { hasMore = store.maintain() })
      }
      return (most, try other.integer("SELECT count(*) FROM receipts"))
    }
    let (small, large) = try (work(20_000), work(80_000))
    #expect(large.receipts == 40_000)
    #expect(large.most <= small.most + small.most / 4)
  }

  @Test("entries before the base of logs are removed note by note")
  func compacted() throws {
    func work(_ count: Int) throws -> Int {
      let folder = try TemporaryFolder(isInMemory: true)
      let store = try SQLiteStore(path: folder.file())
      for number in 0..<count {
        store.create("n\(number)")
        store.type("abc", in: "n\(number)", after: 0)
        #expect(store.error(.compact(id: "n\(number)", through: 2)) == nil)
      }
      let instructions = store.instructions { while store.maintain() {} }
      let log = try SecondConnection(folder.file()).integer("SELECT count(*) FROM log")
      #expect(log == count)
      return instructions
    }
    let (small, large) = try (work(50), work(400))
    #expect(large < 16 * small)
  }

  @Test("dead letters are counted when their number may have changed")
  func deadLetters() throws {
    func work(_ count: Int) throws -> Int {
      let stage = StoreGrowthTests.Stage(size: count)
      stage.tell()
      guard
        case .events(let events) = stage.store.perform(
          .take(.webhook, limit: count, bytesMax: .max, now: 1))
      else { throw StoreError.damaged("no events came") }
      _ = stage.store.perform(.settle(delivered: [], givenUp: events, .tooOld, now: 1, adding: []))
      #expect(stage.store.takeOutboxChanges()[.webhook]?.deadLetters == count)
      stage.perform([.tell([StoreGrowthTests.Stage.draft(0)])])
      return stage.store.instructions {
        #expect(stage.store.takeOutboxChanges()[.webhook]?.deadLetters == count)
      }
    }
    let (small, large) = try (work(250), work(2_000))
    #expect(large == small)
  }
}

extension SQLiteStore {
  /// Returns the number of instructions that some work takes.
  func instructions(of work: () -> Void) -> Int {
    let before = instructionCount
    work()
    return instructionCount - before
  }
}
