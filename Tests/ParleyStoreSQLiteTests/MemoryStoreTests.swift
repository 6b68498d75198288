import ParleyGatewayPorts
import OTCore
import ParleyOTWorkloads
import ParleyPortConformance
import ParleySimulationKit
import Testing

@Suite("The store in memory fails as configured")
struct MemoryStoreTests {
  private func makeStore() -> MemoryStore {
    let store = MemoryStore()
    store.create("n")
    store.type("kept", in: "n", after: 0)
    return store
  }

  @Test("the configured number of commits fails without effect")
  func failingCommits() throws {
    let store = makeStore()
    store.commitsToFail = 2
    for _ in 0..<2 {
      let replies = store.perform([
        .load(id: "n", recentMax: 9),
        .append(id: "n", epoch: epoch, entries: [entry(5, appending("!", to: 4))]),
        .load(id: "n", recentMax: 9),
      ])
      guard case .document(let before) = replies[0], case .failed(.unavailable) = replies[1],
        case .document(let after) = replies[2]
      else {
        Issue.record("unexpected replies")
        return
      }
      #expect(before.text == "kept" && after.text == "kept")
      #expect(after.marks["ann"]?.sequence == 4)
    }
    store.type("!", in: "n", after: 4)
    #expect(try store.load("n").text == "kept!")
  }

  @Test("reads do not count as commits")
  func reads() throws {
    let store = makeStore()
    let count = store.commitCount
    store.commitsToFail = 1
    #expect(try store.load("n").text == "kept")
    #expect(store.commitsToFail == 1)
    #expect(store.commitCount == count)
  }

  @Test("a full disk remains full until it is reset")
  func fullDisk() throws {
    let store = makeStore()
    store.isDiskFull = true
    for _ in 0..<3 {
      #expect(store.error(.rename(id: "n", title: "X", time: 9))?.isRetryable == true)
    }
    store.isDiskFull = false
    #expect(store.error(.rename(id: "n", title: "X", time: 9)) == nil)
  }

  @Test("a damaged document cannot be read, others can")
  func damaged() throws {
    let store = makeStore()
    store.create("m")
    store.damagedDocuments = ["n"]
    guard case .failed(.damaged) = store.one(.load(id: "n", recentMax: 0)) else {
      Issue.record("a damaged document was served")
      return
    }
    #expect(try store.load("m").text.isEmpty)
  }

  @Test("a restart loses the newest commits", arguments: 1...40)
  func lostTail(seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed))
    var writer = RandomWriter()
    let store = MemoryStore()
    var states = [state(of: store)]
    for _ in 0..<30 {
      _ = store.perform(writer.batch(&random))
      states.append(state(of: store))
    }
    let lost = Int.random(in: 0...30, using: &random)
    store.restart(losingCommits: lost)
    #expect(state(of: store) == states[30 - lost])
  }

  private func state(of store: MemoryStore) -> [String] {
    guard case .notes(let notes) = store.one(.list) else { return [] }
    return notes.map { note in
      let text = store.document(note.id)?.text ?? ""
      let log = store.log(of: note.id) ?? []
      return "\(note) \(log.count) \(text)"
    }
  }
}
