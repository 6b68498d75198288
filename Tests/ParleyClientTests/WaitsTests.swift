import ParleyClient
import ParleyGrowthKit
import Testing

@Suite("Waits for the server")
struct WaitsTests {
  /// Returns a number of waits. Every second wait has its answer.
  private static func waits(_ size: Int) -> Waits {
    var waits = Waits(timeout: 1_000, now: 0)
    for number in 1...size {
      _ = waits.begin(now: Int64(number)) {}
      if number % 2 == 0 { _ = waits.remove(number) }
    }
    return waits
  }

  static let laws: [GrowthLaw] = [
    GrowthLaw("begun, answered and reviewed", size: 500) { size in
      (Waits(timeout: 1_000, now: 0), size)
    } change: { state in
      for _ in 0..<state.1 {
        let number = state.0.begin(now: 0) {}
        _ = state.0.deadline()
        if number % 2 == 0 { _ = state.0.remove(number) }
      }
    },
    GrowthLaw("expired one by one", size: 500) { size in
      (waits(size), size)
    } change: { state in
      for now in 0..<state.1 { state.0.expire(now: Int64(now) + 1_000, problem: nil) }
    },
  ]

  @Test("each costs the same, however many there are", arguments: laws)
  func growth(law: GrowthLaw) {
    let finding = law.check()
    #expect(finding.holds, "\(finding)")
  }

  @Test("the next end is that of the oldest unanswered wait, online and offline")
  func deadlines() {
    var waits = Waits(timeout: 1_000, now: 0)
    var ended: [Int] = []
    let first = waits.begin(now: 10) { ended.append(1) }
    let second = waits.begin(now: 20) { ended.append(2) }
    let third = waits.begin(now: 30) { ended.append(3) }
    #expect(waits.deadline() == 1_010)
    waits.connectionChanged(isOnline: true, now: 40)
    #expect(waits.deadline() == 4_010)
    waits.connectionChanged(isOnline: false, now: 500)
    #expect(waits.deadline() == 1_500)
    #expect(waits.remove(first) == nil)
    waits.expire(now: 1_499, problem: "why")
    #expect(ended.isEmpty)
    waits.expire(now: 1_500, problem: "why")
    #expect(ended == [2, 3])
    #expect(waits.deadline() == nil)
    #expect(waits.remove(second) == .unreachable("why"))
    waits.end(.late)
    #expect(waits.remove(third) == .unreachable("why"), "a wait ends once")
    let fourth = waits.begin(now: 2_000) { ended.append(4) }
    waits.end(.stopped(.asked))
    #expect(ended == [2, 3, 4] && waits.remove(fourth) == .stopped(.asked))
  }
}
