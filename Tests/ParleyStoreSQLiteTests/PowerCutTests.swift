import CParleySQLite
import ParleyGatewayPorts
import OTCore
import ParleyOTWorkloads
import ParleyPortConformance
import ParleySimulationKit
import ParleyStoreRecords
import ParleyStoreSQLite
import Testing

@Suite("Power cuts, kills and failing disks")
struct PowerCutTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder(isInMemory: true) }

  @Test("every commit is synced before its reply, and reads write nothing")
  func syncPrecedesReply() throws {
    let disk = try FaultyDisk()
    var random = SplitMix64(seed: 1)
    var writer = RandomWriter()
    var isWriting = [false]
    do {
      let store = try SQLiteStore(path: folder.file(), vfs: disk.name)
      store.walPagesToCheckpoint = 16
      disk.mark(0)
      for number in 1...150 {
        let batch =
          number % 5 == 0 ? [.list, .load(id: "note-0", recentMax: 3)] : writer.batch(&random)
        isWriting.append(batch.contains { $0.isWriting })
        _ = store.perform(batch)
        disk.mark(number)
        if number % 7 == 0 { _ = store.maintain() }
      }
    }
    var image = DiskImage()
    var logWrites = 0
    var logSyncs = 0
    var number = 0
    for event in disk.events {
      image.follow(event)
      switch event {
      case .write("-wal", _, _): logWrites += 1
      case .sync("-wal"): logSyncs += 1
      case .mark(let reply):
        number = reply
        // Evaluated outside `#expect`, whose failure would print the whole disk.
        let isSynced = image.isSynced("-wal")
        #expect(isSynced, "reply \(reply) came before the sync")
        if isWriting[reply] {
          #expect(logWrites > 0 && logSyncs > 0, "reply \(reply) without write or sync")
        } else if reply > 0 && (reply - 1) % 7 != 0 {
          #expect(logWrites == 0, "reply \(reply) of reads wrote")
        }
        logWrites = 0
        logSyncs = 0
      default: break
      }
    }
    #expect(number == 150)
  }

  @Test("replied work survives a power cut at any time", arguments: [11, 12, 13] as [UInt64])
  func powerCut(seed: UInt64) throws {
    try endAnywhere(seed: seed) { image, random in image.afterPowerCut(using: &random) }
  }

  @Test("replied work survives a kill at any time", arguments: [21, 22] as [UInt64])
  func killed(seed: UInt64) throws {
    try endAnywhere(seed: seed) { image, _ in image.afterKill() }
  }

  @Test("a store whose first start was killed at any time can be started")
  func firstStart() throws {
    let disk = try FaultyDisk()
    var random = SplitMix64(seed: 31)
    do {
      let store = try SQLiteStore(path: folder.file(), vfs: disk.name)
      _ = try store.secret(named: "resume tokens")
      store.create("n")
      try store.emptyLog()
    }
    var image = DiskImage()
    for event in disk.events {
      image.follow(event)
      for files in [image.afterKill(), image.afterPowerCut(using: &random)] {
        let path = folder.file("begun.parley")
        // The file exists before SQLite writes to it; SQLite creates the others when it writes to
        // them.
        for ending in ["", "-wal", "-shm", "-journal"] { removeFile(path + ending) }
        try writeFile(path, [])
        for (ending, bytes) in files { try writeFile(path + ending, bytes) }
        let store = try SQLiteStore(path: path)
        store.create("another")
        #expect(store.check().problems == [])
      }
    }
  }

  /// Ends a run at random events, and compares the recovered content with the replies.
  ///
  /// - Parameter remains: Returns the files that remain.
  private func endAnywhere(
    seed: UInt64, leaving remains: (DiskImage, inout SplitMix64) -> [String: [UInt8]]
  ) throws {
    let disk = try FaultyDisk()
    var random = SplitMix64(seed: seed)
    let states = try record(disk, batches: 60, &random)
    var image = DiskImage()
    var replied: Int?
    for (index, event) in disk.events.enumerated() {
      image.follow(event)
      if case .mark(let number) = event { replied = number }
      guard let replied, Int.random(in: 0..<6, using: &random) == 0 else { continue }
      let found = try recover(remains(image, &random))
      // Replied batches are present; the batch in progress may be present or not.
      let isThisOrNext =
        found == states[replied] || (replied + 1 < states.count && found == states[replied + 1])
      #expect(isThisOrNext, "seed \(seed), event \(index), after reply \(replied)")
      if !isThisOrNext { return }
    }
  }

  /// A fault of the disk.
  struct Fault: Sendable, CustomTestStringConvertible {
    let calls: FaultyDisk.Calls
    let code: Int32
    /// The number of consecutive calls that fail.
    let count: Int
    let tornBytes: Int
    let testDescription: String
  }

  @Test(
    "work that the disk refused has no effect, also after a kill",
    arguments: [
      Fault(
        calls: .syncs, code: SQLITE_IOERR, count: 1, tornBytes: 0,
        testDescription: "one sync fails"),
      Fault(
        calls: .syncs, code: SQLITE_IOERR, count: 5, tornBytes: 0,
        testDescription: "several syncs fail"),
      Fault(
        calls: .writes, code: SQLITE_FULL, count: 1, tornBytes: 0,
        testDescription: "the disk is full for a moment"),
      Fault(
        calls: .writes, code: SQLITE_FULL, count: 4, tornBytes: 100,
        testDescription: "the disk is full in the middle of a page"),
      Fault(
        calls: [.writes, .syncs, .truncations], code: SQLITE_IOERR, count: 9,
        tornBytes: 1_000, testDescription: "the disk fails for a while"),
    ])
  func failingDisk(fault: Fault) throws {
    var wiped = 0
    for after in 0..<16 {
      let disk = try FaultyDisk()
      var random = SplitMix64(seed: UInt64(after))
      var writer = RandomWriter()
      let model = MemoryStore()
      let file = folder.file("fault-\(after).parley")
      let store = try SQLiteStore(path: file, vfs: disk.name)
      store.walPagesToCheckpoint = 16
      for number in 0..<30 {
        if number == 5 {
          disk.fail(
            fault.calls, after: after, count: fault.count, code: fault.code,
            tornBytes: fault.tornBytes)
        }
        let saved = writer
        let batch = writer.batch(&random)
        let replies = store.perform(batch)
        let failures = replies.compactMap(\.failure)
        let isUndecided = replies.contains { if case .undecided = $0 { true } else { false } }
        if failures.isEmpty {
          _ = model.perform(batch)
        } else {
          #expect(failures.count == batch.count, "part of a batch failed")
          for error in failures { #expect(error.isRetryable, "\(error)") }
          writer = saved
        }
        if number % 6 == 0 { _ = store.maintain() }
        // Comparing everything takes ten times as long as a batch, so it is done rarely.
        if !failures.isEmpty || number % 6 == 0 {
          let isEqual = state(of: store) == state(of: model)
          #expect(isEqual, "after \(after) calls, batch \(number)")
        }
        if disk.failedCount > 0 && !failures.isEmpty {
          // A kill at this moment would leave the files as they are. A disk that fails both writes
          // and syncs can retain a whole commit whose sync failed. The store then reports the
          // commit as undecided, until it has been wiped.
          var image = DiskImage()
          for event in disk.events { image.follow(event) }
          let found = try recover(image.afterKill())
          if !isUndecided {
            let isKept = found == state(of: model)
            #expect(isKept, "after \(after) calls, batch \(number), killed")
          }
          if isUndecided,
            (0..<fault.count).contains(where: { _ in
              store.perform([.rollBackFailedCommits])[0].isDone
            })
          {
            var image = DiskImage()
            for event in disk.events { image.follow(event) }
            let isWiped = try recover(image.afterKill()) == state(of: model)
            #expect(isWiped, "after \(after) calls, batch \(number), wiped and killed")
            wiped += 1
          }
        }
      }
      disk.heal()
      let batch = writer.batch(&random)
      for reply in store.perform(batch) {
        if let error = reply.failure { Issue.record("still failing after healing: \(error)") }
      }
      _ = model.perform(batch)
      #expect(state(of: store) == state(of: model))
    }
    if fault.calls.isSuperset(of: [.writes, .syncs]) {
      #expect(wiped > 0, "no commit was undecided: the test has lost its subject")
    }
  }

  // MARK: Parts

  /// Writes random batches. Returns the store's content before the first batch and after each.
  private func record(
    _ disk: FaultyDisk, batches: Int, _ random: inout SplitMix64
  ) throws -> [[DocumentID: Note]] {
    let model = MemoryStore()
    var writer = RandomWriter()
    let store = try SQLiteStore(path: folder.file(), vfs: disk.name)
    store.walPagesToCheckpoint = 16
    var states = [state(of: model)]
    disk.mark(0)
    for number in 1...batches {
      let batch = writer.batch(&random)
      for reply in store.perform(batch) {
        if let error = reply.failure { Issue.record("\(error)") }
      }
      disk.mark(number)
      _ = model.perform(batch)
      states.append(state(of: model))
      if number % 4 == 0 { _ = store.maintain() }
    }
    return states
  }

  /// Returns the content that a store recovers from files.
  private func recover(_ files: [String: [UInt8]]) throws -> [DocumentID: Note] {
    let path = folder.file("recovered.parley")
    for ending in ["", "-wal", "-shm"] { removeFile(path + ending) }
    for (ending, bytes) in files { try writeFile(path + ending, bytes) }
    let store = try SQLiteStore(path: path)
    #expect(store.check().problems == [])
    return state(of: store)
  }

  /// The compared parts of a note.
  private struct Note: Equatable {
    let summary: NoteSummary
    let text: [UInt8]
    let marks: [String: ClientMark]
  }

  private func state(of store: any DocumentStore) -> [DocumentID: Note] {
    guard case .notes(let notes) = store.one(.list) else { return [:] }
    var state: [DocumentID: Note] = [:]
    for summary in notes {
      do {
        let document = try store.load(summary.id, recentMax: 1_000)
        state[summary.id] = Note(
          summary: summary, text: Array(document.text.utf8), marks: document.marks)
        if document.recent.count != summary.revision { Issue.record("entries are missing") }
      } catch {
        Issue.record("\(error)")
      }
    }
    return state
  }
}

/// Generates batches of requests that all succeed.
struct RandomWriter {
  private var lengths: [Int: (revision: Int, length: Int)] = [:]

  mutating func batch(_ random: inout SplitMix64) -> [StoreRequest] {
    (0...Int.random(in: 0...3, using: &random)).map { _ in request(&random) }
  }

  private mutating func request(_ random: inout SplitMix64) -> StoreRequest {
    let number = Int.random(in: 0..<3, using: &random)
    let id = "note-\(number)"
    guard var (revision, length) = lengths[number] else {
      lengths[number] = (0, 0)
      return .create(id: DocumentID(id), epoch: epoch, title: "Note", time: 1)
    }
    switch Int.random(in: 0..<12, using: &random) {
    case 0:
      lengths[number] = nil
      return .delete(id: DocumentID(id))
    case 1:
      return .rename(
        id: DocumentID(id), title: "Title \(Int.random(in: 0..<100, using: &random))", time: 2)
    default:
      var entries: [LogEntry] = []
      for _ in 0...Int.random(in: 0...2, using: &random) {
        let count = Int.random(in: 0..<3_000, using: &random)
        let text = String(repeating: "x", count: count) + "\(random.next())"
        let next = entry(revision + 1, appending(text, to: length))
        entries.append(next)
        (revision, length) = (revision + 1, next.operation.targetLength)
      }
      lengths[number] = (revision, length)
      return .append(id: DocumentID(id), epoch: epoch, entries: entries)
    }
  }
}
