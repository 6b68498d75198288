import ParleyGatewayPorts
import ParleyPostgreSQLAdapter
import Testing

@Suite("The course of a batch of appends")
struct AppendRunTests {
  private static let lost = PostgresFailure.lost("no answer")
  private static let race = PostgresFailure.refused(state: "40001")
  private static let tooLarge = PostgresFailure.refused(state: "54000")

  /// The errors of a run's replies, `nil` for those that are done.
  private func errors(_ run: AppendRun) -> [StoreError?] { run.replies.map { $0?.failure } }

  private func isUnknown(_ error: StoreError?) -> Bool {
    if case .unknownOutcome? = error { true } else { false }
  }

  @Test("ends when every append was made")
  func allMade() {
    var run = AppendRun(count: 2, isShared: true)
    #expect(run.begin() == .connect(isUndecided: false))
    #expect(run.connected() == .send([0, 1]))
    #expect(run.sent([(0, .done), (1, .done)]) == .finish)
    #expect(errors(run) == [nil, nil])
    #expect(run.replies.allSatisfy { $0 != nil })
  }

  @Test("reads the logs that did not take their appends, and sends those again that fit by then")
  func judging() {
    var run = AppendRun(count: 3, isShared: true)
    #expect(run.sent([(1, .done)]) == .judge([0, 2]))
    #expect(run.judged([(0, .failed(.unknownDocument))]) == .connect(isUndecided: false))
    #expect(run.connected() == .send([2]))
    #expect(run.sent([(2, .done)]) == .finish)
    #expect(errors(run) == [.unknownDocument, nil, nil])
  }

  @Test("retries a race four times, then fails")
  func races() {
    var run = AppendRun(count: 1, isShared: true)
    for _ in 1...4 {
      #expect(run.notSent(Self.race, wasSending: true) == .connect(isUndecided: false))
    }
    #expect(run.notSent(Self.race, wasSending: true) == .finish)
    #expect(errors(run) == [Self.race.storeError])
  }

  @Test("splits a batch in which one append is refused, and keeps the earlier appends")
  func splitting() {
    var run = AppendRun(count: 4, isShared: true)
    #expect(run.sent([(1, .done)]) == .judge([0, 2, 3]))
    #expect(run.judged([]) == .connect(isUndecided: false))
    #expect(run.notSent(Self.tooLarge, wasSending: true) == .split([0], [2, 3]))
    let refused = StoreReply.failed(Self.tooLarge.storeError)
    #expect(run.split([(0, .done), (2, refused), (3, .done)]) == .finish)
    #expect(errors(run) == [nil, nil, Self.tooLarge.storeError, nil])
  }

  @Test("does not split a single append")
  func single() {
    var run = AppendRun(count: 1, isShared: false)
    #expect(run.notSent(Self.tooLarge, wasSending: true) == .finish)
    #expect(errors(run) == [Self.tooLarge.storeError])
  }

  @Test("a connection that was lost before anything was sent leaves nothing undecided")
  func lostBefore() {
    var run = AppendRun(count: 1, isShared: false)
    #expect(run.notSent(Self.lost, wasSending: false) == .connect(isUndecided: false))
    #expect(run.notConnected(.unavailable("away")) == .finish)
    #expect(errors(run) == [.unavailable("away")])
  }

  @Test("a lost answer of a shared store stays unknown after five attempts")
  func lostShared() {
    var run = AppendRun(count: 1, isShared: true)
    for _ in 1...4 {
      #expect(run.notSent(Self.lost, wasSending: true) == .connect(isUndecided: true))
    }
    #expect(run.notSent(Self.lost, wasSending: true) == .finish)
    #expect(isUnknown(errors(run)[0]))
  }

  @Test("a lost answer of a store of its own is looked for until it is found")
  func lostAlone() {
    var run = AppendRun(count: 1, isShared: false)
    for _ in 1...20 {
      #expect(run.notSent(Self.lost, wasSending: true) == .connect(isUndecided: true))
      #expect(run.connected() == .send([0]))
    }
    #expect(run.sent([]) == .judge([0]))
    #expect(run.judged([(0, .done)]) == .finish)
    #expect(errors(run) == [nil])
  }

  @Test(
    "after a lost answer, a refusal and an unreadable log are unknown outcomes, and made appends remain"
  )
  func refusedAfterLoss() {
    for isRefused in [true, false] {
      var run = AppendRun(count: 3, isShared: true)
      #expect(run.sent([(0, .done)]) == .judge([1, 2]))
      #expect(run.judged([]) == .connect(isUndecided: false))
      #expect(run.notSent(Self.lost, wasSending: true) == .connect(isUndecided: true))
      if isRefused {
        #expect(run.notSent(Self.tooLarge, wasSending: true) == .finish)
      } else {
        #expect(run.sent([]) == .judge([1, 2]))
        #expect(run.judged([], error: .unavailable("away")) == .finish)
      }
      #expect(errors(run)[0] == nil)
      #expect(errors(run).dropFirst().allSatisfy(isUnknown))
    }
  }
}
