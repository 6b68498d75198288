import ParleyLocks
import ParleyServer
import Testing

/// Work performed in parallel, such as stopping the threads of several stores.
@Suite("At once")
struct AtOnceTests {
  @Test(
    "all calls begin before any has ended, and all have ended at the return", arguments: [1, 2, 16])
  func parallel(count: Int) {
    let begun = Monitor(0)
    let done = Monitor<[Int]>([])
    Concurrently.run(Array(0..<count)) { item in
      begun.withLock { $0 += 1 }
      begun.signal()
      // If the items ran one after the other, the first would wait here forever.
      begun.wait(until: { $0 == count }, then: { _ in })
      done.withLock { $0.append(item) }
    }
    #expect(done.withLock { $0.sorted() } == Array(0..<count))
  }

  @Test("no calls have no results")
  func none() {
    Concurrently.run([Int]()) { _ in Issue.record("there was no item") }
  }
}
