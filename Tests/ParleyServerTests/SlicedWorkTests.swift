import ParleyServer
import Testing

@Suite("Work in slices")
struct SlicedWorkTests {
  /// Works for one turn, and returns the finished items. An item is its duration in microseconds.
  private func turn(_ work: inout SlicedWork<Int64>, now: inout Int64) -> [Int64] {
    var done: [Int64] = []
    while let item = work.next(at: now) {
      done.append(item)
      now += item
    }
    work.endTurn()
    return done
  }

  @Test("a turn begins no item after its time, does at least one, and keeps the order")
  func slices() {
    var work = SlicedWork<Int64>(sliceMicroseconds: 10)
    var now: Int64 = 1_000
    #expect(turn(&work, now: &now).isEmpty && work.isEmpty)
    work.add([4, 5, 6, 30, 1])
    #expect(turn(&work, now: &now) == [4, 5, 6])
    work.add([2])
    #expect(turn(&work, now: &now) == [30])
    #expect(!work.isEmpty)
    #expect(turn(&work, now: &now) == [1, 2])
    #expect(work.isEmpty)
    work.add([50])
    #expect(turn(&work, now: &now) == [50])
  }

  @Test("an item added in a turn is done in this turn if there is time")
  func moreInATurn() {
    var work = SlicedWork<Int64>(sliceMicroseconds: 10)
    work.add([1])
    #expect(work.next(at: 0) == 1)
    #expect(work.next(at: 1) == nil)
    work.add([2, 3])
    #expect(work.next(at: 5) == 2)
    #expect(work.next(at: 10) == nil)
    work.endTurn()
    #expect(work.next(at: 11) == 3)
  }
}
