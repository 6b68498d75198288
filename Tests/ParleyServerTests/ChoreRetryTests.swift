import ParleyGatewayPorts
import ParleyLocks
import OTCore
import ParleyServer
import ParleyStoreRecords
import ParleyStoreSQLite
import Testing

/// Retries of failed chores of a store.
@Suite("Chores that have failed")
struct ChoreRetryTests {
  @Test("are tried again after pauses that double, up to ten minutes")
  func pauses() {
    var retry = ChoreRetry()
    var now: Int64 = 0
    var pauses: [Int] = []
    #expect(retry.wait(at: now) == nil)
    for _ in 0..<12 {
      retry.failed(at: now)
      // Further failures before the next attempt do not delay it.
      retry.failed(at: now + 1)
      let pause = retry.wait(at: now) ?? 0
      pauses.append(pause)
      let isDueBefore = retry.isDue(at: now + Int64(pause) - 1)
      now += Int64(pause)
      let isDue = retry.isDue(at: now)
      #expect(!isDueBefore && isDue)
      #expect(retry.wait(at: now) == nil)
    }
    #expect(pauses.prefix(4) == [1_000, 2_000, 4_000, 8_000])
    #expect(pauses.suffix(2) == [600_000, 600_000])
    retry.succeeded()
    retry.failed(at: now)
    #expect(retry.wait(at: now) == 1_000)
  }

  /// A store whose chores fail a number of times before they succeed.
  private final class StubbornStore: ServerStore {
    /// The step at which a chore fails.
    enum Place: Sendable { case reading, keeping }

    private let store: SQLiteStore
    private let place: Place?
    private let failures: Monitor<Int>

    init(_ store: SQLiteStore, failingAt place: Place?, _ failures: Monitor<Int>) {
      self.store = store
      self.place = place
      self.failures = failures
    }

    private func fail(at place: Place) throws(StoreError) {
      guard place == self.place else { return }
      let fails = failures.withLock { left in
        defer { left = max(0, left - 1) }
        return left > 0
      }
      if fails { throw .unavailable("not now") }
    }

    func work(on chore: StoreChore) throws(StoreError) -> StoreChore.Result? {
      try fail(at: .reading)
      return try store.work(on: chore)
    }

    func keep(_ result: StoreChore.Result) throws(StoreError) {
      try fail(at: .keeping)
      try store.keep(result)
    }

    var outboxRules: OutboxRules? {
      get { store.outboxRules }
      set { store.outboxRules = newValue }
    }
    var state: StoreState { store.state }
    var runsChoresElsewhere: Bool {
      get { store.runsChoresElsewhere }
      set { store.runsChoresElsewhere = newValue }
    }
    var hasFailedChores: Bool { store.hasFailedChores }
    func perform(_ batch: [StoreRequest]) -> [StoreReply] { store.perform(batch) }
    func perform(_ request: OutboxRequest) -> OutboxReply { store.perform(request) }
    func takeOutboxChanges() -> [OutboxTarget: OutboxQueueState] { store.takeOutboxChanges() }
    func maintain() -> Bool { store.maintain() }
    func secret(named name: String, byteCount: Int) throws(StoreError) -> [UInt8] {
      try store.secret(named: name, byteCount: byteCount)
    }
    func removeEmptyRooms(idleSince time: Timestamp) throws(StoreError) -> Int {
      try store.removeEmptyRooms(idleSince: time)
    }
    func settle() -> CloseWarning? { store.settle() }
    func takeChores() -> [StoreChore] { store.takeChores() }
    func postpone(_ chore: StoreChore) { store.postpone(chore) }
    func retryChores() { store.retryChores() }
  }

  @Test("are tried again without a change of their note", arguments: [true, false])
  func beside(whileReading: Bool) throws {
    let folder = TestFolder()
    let failures = Monitor(3)
    let place: StubbornStore.Place = whileReading ? .reading : .keeping
    let rig = StoreThreadRig(
      Handover<any ServerStore>(
        StubbornStore(try SQLiteStore(path: folder.storePath), failingAt: place, failures)),
      Handover<any DocumentStore>(
        StubbornStore(try SQLiteStore(reading: folder.storePath), failingAt: place, failures)),
      retry: ChoreRetry(milliseconds: 1))
    rig.create("n")
    rig.append(from: 1, through: 900)
    rig.wait { rig.thread.metrics.folds == 1 }
    #expect(failures.withLock { $0 } == 0)
    rig.thread.stop()
    #expect(try SQLiteStore(reading: folder.storePath).check().snapshots == 1)
  }
}
