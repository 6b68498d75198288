import ParleyGatewayPorts
import ParleyJSON
import OTCore
import ParleyOTWorkloads
import ParleyStoreRecords
import ParleyStoreSQLite
import Testing

@Suite("A clock that jumps")
struct ClockTests {
  private let folder: TemporaryFolder
  private static let day: Timestamp = 86_400_000
  private static let start: Timestamp = 1_767_225_600_000

  init() throws { folder = try TemporaryFolder(isInMemory: true) }

  /// Appends one letter at each time.
  private func append(_ times: [Timestamp], to store: SQLiteStore, after head: Int = 0) {
    for (offset, time) in times.enumerated() {
      let revision = head + offset + 1
      var next = entry(revision, appending("x", to: revision - 1))
      next.time = time
      #expect(store.error(.append(id: "n", epoch: epoch, entries: [next])) == nil)
    }
  }

  private func revision(at time: Timestamp, in store: SQLiteStore) -> Int? {
    guard case .text(let text) = store.one(.text(id: "n", at: .time(time))) else { return nil }
    return text.revision
  }

  private func updatedAt(_ store: SQLiteStore) -> Timestamp? {
    guard case .note(let note) = store.one(.note(id: "n")) else { return nil }
    return note.updatedAt
  }

  @Test("a note changed while the clock was ahead gets the time of its next change")
  func updated() throws {
    let store = try SQLiteStore(path: folder.file())
    store.create("n")
    append([Self.start], to: store)
    append([Self.start - 30_000], to: store, after: 1)
    #expect(updatedAt(store) == Self.start, "set back by a little, it stays")
    append([Self.start + 900 * Self.day], to: store, after: 2)
    #expect(updatedAt(store) == Self.start + 900 * Self.day)
    append([Self.start + 5_000], to: store, after: 3)
    #expect(updatedAt(store) == Self.start + 5_000)
    #expect(
      store.error(.rename(id: "n", title: "t", time: Self.start + 900 * Self.day)) == nil)
    #expect(store.error(.rename(id: "n", title: "u", time: Self.start + 6_000)) == nil)
    #expect(updatedAt(store) == Self.start + 6_000)
    append([Self.start + 7_000], to: store, after: 4)
    #expect(updatedAt(store) == Self.start + 7_000)
    #expect(store.check().problems == [])
  }

  @Test("a time finds the newest revision at or before it", arguments: UInt64(1)...30)
  func texts(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let times = try write(120, &random)
    // A reopened store must still map times to revisions.
    let store = try SQLiteStore(path: folder.file())
    func check(from base: Int) {
      for _ in 0..<60 {
        let nearby = times[Int.random(in: 0..<times.count, using: &random)]
        let time = nearby + Int64.random(in: -2...2, using: &random)
        let expected = times.lastIndex { $0 <= time }.map { $0 + 1 } ?? 0
        guard expected > base || base == 0 else { continue }
        #expect(revision(at: time, in: store) == expected)
      }
    }
    check(from: 0)
    #expect(store.error(.compact(id: "n", through: 50)) == nil)
    check(from: 50)
    #expect(store.check().problems == [])
    #expect(store.error(.delete(id: "n")) == nil)
    while store.maintain() {}
    let other = try SecondConnection(folder.file())
    #expect(try other.integer("SELECT count(*) FROM meta WHERE name LIKE 'clock:%'") == 0)
  }

  /// Writes entries while the clock jumps back and forth by minutes to hours. Returns their times.
  private func write(_ count: Int, _ random: inout SplitMix64) throws -> [Timestamp] {
    let store = try SQLiteStore(path: folder.file())
    store.create("n")
    var now = Self.start
    var times: [Timestamp] = []
    for head in 0..<count {
      now += Int64.random(in: 0...5_000, using: &random)
      if Int.random(in: 0..<15, using: &random) == 0 {
        let jump = Int64.random(in: 70_000...30_000_000, using: &random)
        now += Bool.random(using: &random) ? jump : -jump
        if Bool.random(using: &random) {
          #expect(store.error(.rename(id: "n", title: "t", time: now)) == nil)
        }
      }
      times.append(now)
      append([now], to: store, after: head)
    }
    return times
  }

  // MARK: Rooms

  private static let retention = RoomRetention(publicationsMax: 100, ageMax: day)

  private func publish(
    _ room: RoomName, _ store: SQLiteStore, at time: Timestamp, key: String? = nil
  ) -> Timestamp? {
    let draft = PublicationDraft(key: key, time: time, data: JSONValue(trusted: Array("1".utf8)))
    guard
      case .room(.published(_, let accepted, _)) = store.one(
        .room(.publish(room, draft, retention: Self.retention, keyAge: Self.day)))
    else { return nil }
    return accepted
  }

  @Test("publications made while the clock was ahead expire", arguments: [false, true])
  func publications(isReopened: Bool) throws {
    var store: SQLiteStore? = try SQLiteStore(path: folder.file())
    func open() throws -> SQLiteStore { try #require(store) }
    let ahead = Self.start + 900 * Self.day
    #expect(try publish("r", open(), at: Self.start) == Self.start)
    #expect(try publish("r", open(), at: Self.start - 30_000) == Self.start, "set back by a little")
    #expect(try publish("r", open(), at: ahead, key: "k") == ahead)
    // This room gets no more publications.
    #expect(try publish("s", open(), at: ahead, key: "k") == ahead)
    // If the clock is ahead for less than an hour, nothing is removed.
    #expect(try publish("s", open(), at: ahead + 3_000_000) != nil)
    while try open().maintain() {}
    if isReopened {
      store = nil
      store = try SQLiteStore(path: folder.file())
    }
    let back = Self.start + 10_000
    #expect(try publish("r", open(), at: back) == back)
    while try open().maintain() {}
    let other = try SecondConnection(folder.file())
    #expect(try other.integer("SELECT count(*) FROM publications") == 6)
    // Publications more than a day later make all of them expire; only the new ones remain.
    for hours: Int64 in 1...3 {
      #expect(try publish("t", open(), at: back + Self.day + hours * 3_600_000) != nil)
    }
    while try open().maintain() {}
    #expect(try other.integer("SELECT count(*) FROM publications") == 3)
    #expect(try other.integer("SELECT count(*) FROM publication_keys") == 0)
    #expect(try open().check().problems == [])
  }

  @Test("a later report corrects the time of a person online while the clock was ahead")
  func online() throws {
    let store = try SQLiteStore(path: folder.file())
    func seen(at time: Timestamp) -> Timestamp? {
      _ = store.one(.people(.online(["ann"], time)))
      guard case .people(.lastOnline(let times)) = store.one(.people(.lastOnline(["ann"]))) else {
        return nil
      }
      return times[0]
    }
    #expect(seen(at: Self.start) == Self.start)
    #expect(seen(at: Self.start - 30_000) == Self.start)
    #expect(seen(at: Self.start + 900 * Self.day) == Self.start + 900 * Self.day)
    #expect(seen(at: Self.start + 1) == Self.start + 1)
  }

  // MARK: A disk that fails

  @Test("ids of deleted notes get their time although the disk refused it at first")
  func undatedDeletion() throws {
    let disk = try FaultyDisk()
    let store = try SQLiteStore(path: folder.file(), vfs: disk.name)
    let draft = NoteDraft(id: "n", title: "Note", owner: "ann", time: Self.start)
    #expect(store.error(.once(.create(draft, epoch: epoch, restMax: Self.day))) == nil)
    #expect(store.error(.delete(id: "n", keeping: nil)) == nil)
    while store.maintain() {}
    // A deletion has no time, so a publication supplies one.
    #expect(publish("r", store, at: Self.start) == Self.start)
    disk.fail(.syncs, count: 1)
    #expect(!store.maintain())
    #expect(disk.failedCount == 1)
    disk.heal()
    while store.maintain() {}
    let other = try SecondConnection(folder.file())
    let dated = "SELECT count(*) FROM note_origins WHERE deleted = 1 AND expires IS NOT NULL"
    #expect(try other.integer(dated) == 1)
  }

  @Test(
    "publications made while the clock was ahead expire although the disk refused it at first")
  func refusedRedating() throws {
    let disk = try FaultyDisk()
    let store = try SQLiteStore(path: folder.file(), vfs: disk.name)
    let ahead = Self.start + 900 * Self.day
    #expect(publish("r", store, at: ahead, key: "k") == ahead)
    while store.maintain() {}
    #expect(publish("s", store, at: Self.start) == Self.start)
    disk.fail(.syncs, count: 1)
    #expect(!store.maintain())
    #expect(disk.failedCount == 1)
    disk.heal()
    while store.maintain() {}
    let other = try SecondConnection(folder.file())
    let late = "expires > \(Self.start + 2 * Self.day)"
    #expect(try other.integer("SELECT count(*) FROM publications WHERE \(late)") == 0)
    #expect(try other.integer("SELECT count(*) FROM publication_keys WHERE \(late)") == 0)
  }

  @Test("likes of publications that are gone go although the disk refused it at first")
  func refusedSweep() throws {
    let disk = try FaultyDisk()
    let store = try SQLiteStore(path: folder.file(), vfs: disk.name)
    #expect(publish("r", store, at: Self.start) == Self.start)
    let place = PublicationAddress(room: "r", offset: 1)
    let like = GroupRequest.like(place, "ann", reaction: "+", likesMax: 9)
    #expect(store.error(.groups(like)) == nil)
    while store.maintain() {}
    // The publication has expired, and is removed first.
    for hours: Int64 in 1...3 {
      let page = RoomRequest.page(
        "r", .newest, limit: 1, bytesMax: 1, retention: Self.retention,
        now: Self.start + Self.day + hours * 3_600_000)
      #expect(store.error(.room(page)) == nil)
    }
    let other = try SecondConnection(folder.file())
    // First the publication is removed, then its receipts, of which there are none.
    #expect(store.maintain())
    #expect(store.maintain())
    disk.fail(.syncs, count: 1)
    #expect(!store.maintain())
    #expect(disk.failedCount == 1)
    disk.heal()
    while store.maintain() {}
    #expect(try other.integer("SELECT count(*) FROM likes") == 0)
  }
}
