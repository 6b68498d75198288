import ParleyServer
import Testing

/// Tests of the loop's watch with made-up samples.
@Suite("Watching the loop")
struct LoopWatchTests {
  private static let second: Int64 = 1_000_000_000

  /// A simulated loop's thread, whose time and processor usage a test advances.
  private struct Scene {
    var watch = LoopWatch(limitMilliseconds: 10_000, periodMilliseconds: 500)
    var time: Int64 = 77 * second
    var turns: UInt64 = 1
    var processor: Int64? = 5 * second
    var isWaiting = false
    var state = LoopWatch.ThreadState.runnable

    /// Advances the time and judges a sample.
    mutating func pass(
      _ seconds: Double, burning: Double = 0, turns count: UInt64 = 0
    ) -> LoopWatch.Verdict {
      time += Int64(seconds * Double(second))
      processor? += Int64(burning * Double(second))
      turns += count
      return watch.judge(
        LoopWatch.Sample(
          time: time, turns: turns, isWaiting: isWaiting, processor: processor, state: state))
    }
  }

  @Test func `a turn that burns ten seconds of processor time is stuck`() {
    var scene = Scene()
    #expect(scene.pass(0.5) == .alive)
    for _ in 1..<20 { #expect(scene.pass(0.5, burning: 0.5) == .alive) }
    #expect(scene.pass(0.5, burning: 0.5) == .stuck(.busy(milliseconds: 10_000)))
  }

  @Test func `a turn in between resets the count`() {
    var scene = Scene()
    for round in 0..<10 {
      for _ in 0..<19 { #expect(scene.pass(0.5, burning: 0.5) == .alive, "round \(round)") }
      #expect(scene.pass(0.5, burning: 0.5, turns: 1) == .alive)
    }
  }

  @Test func `many busy turns are not one long turn`() {
    var scene = Scene()
    for _ in 0..<1_000 { #expect(scene.pass(0.5, burning: 0.5, turns: 3) == .alive) }
  }

  @Test func `a spin is noticed on a busy machine, by its own processor time`() {
    var scene = Scene()
    var samples = 0
    _ = scene.pass(0.5)
    // The thread gets a fifth of the processor time, and samples come late.
    while scene.pass(2, burning: 0.4) == .alive { samples += 1 }
    #expect(samples == 24)
  }

  @Test func `a thread that is given no processor is not stuck`() {
    var scene = Scene()
    for _ in 0..<10_000 { #expect(scene.pass(0.5) == .alive) }
  }

  @Test(arguments: [true, false])
  func `a process that was stopped is not stuck`(wasWaiting: Bool) {
    var scene = Scene()
    scene.isWaiting = wasWaiting
    scene.state = wasWaiting ? .asleep : .runnable
    _ = scene.pass(0.5)
    for _ in 0..<5 {
      // After an hour without samples, the first sample may find the thread unchanged.
      #expect(scene.pass(3_600) == .alive)
      #expect(scene.pass(0.5, burning: 0.001, turns: 1) == .alive)
    }
  }

  @Test func `a machine that was suspended within a turn, and charged for it, proves nothing`() {
    var scene = Scene()
    _ = scene.pass(0.5)
    #expect(scene.pass(3_600, burning: 3_600) == .alive)
    #expect(scene.pass(0.5, burning: 0.5) == .alive)
    #expect(scene.pass(0.5, turns: 1) == .alive)
  }

  @Test(arguments: [-3_600.0, -1, 3_600, 1e9])
  func `clocks that jump prove nothing`(seconds: Double) {
    var scene = Scene()
    _ = scene.pass(0.5)
    #expect(scene.pass(seconds, burning: seconds) == .alive)
    #expect(scene.pass(0.5, burning: 0.5) == .alive)
  }

  @Test func `a thread asleep within a turn is silent, not stuck`() {
    var scene = Scene()
    scene.state = .asleep
    for _ in 0...19 { #expect(scene.pass(0.5) == .alive) }
    for _ in 0..<1_000 { #expect(scene.pass(0.5) == .silent) }
    #expect(scene.pass(0.5, turns: 1) == .alive)
  }

  @Test func `a thread asleep over its events although ticks are due is stuck`() {
    var scene = Scene()
    scene.state = .asleep
    scene.isWaiting = true
    for _ in 0...19 { #expect(scene.pass(0.5) == .alive) }
    #expect(scene.pass(0.5) == .stuck(.asleep(milliseconds: 10_000)))
  }

  @Test func `one that sleeps and runs in turns, never for long, is not stuck`() {
    var scene = Scene()
    for index in 0..<10_000 {
      scene.state = index % 2 == 0 ? .asleep : .runnable
      #expect(scene.pass(0.5, burning: 0.0004) == .alive)
    }
  }

  @Test func `without a clock for the processor nothing is burned`() {
    var scene = Scene()
    scene.processor = nil
    for _ in 0..<1_000 { #expect(scene.pass(0.5) == .alive) }
  }

  @Test func `a traced thread is not stuck`() {
    var scene = Scene()
    scene.state = .unknown
    scene.isWaiting = true
    for _ in 0..<1_000 { #expect(scene.pass(0.5) == .alive) }
  }

  @Test(arguments: [
    ("12 (parley-loop) R 1 2 3", LoopWatch.ThreadState.runnable),
    ("12 (parley-loop) S 1 2 3", .asleep), ("12 (x) D 1", .asleep), ("12 (x) T 1", .unknown),
    ("12 (x) t 1", .unknown), ("12 (a) R) S 1 2", .asleep), ("12 (a b) Z 1", .unknown),
    ("", .unknown), ("12 R", .unknown), ("12 (x)", .unknown),
  ])
  func `the state follows the name`(line: String, state: LoopWatch.ThreadState) {
    #expect(LoopWatch.ThreadState(stat: line) == state)
  }

  @Test(arguments: [
    (10_000, nil as Int64?, 500), (1_000, nil, 50), (0, nil, 500), (10_000, 60_000_000, 500),
    (10_000, 1_000_000, 250), (10_000, 1, 20),
  ])
  func `samples are taken often enough for both`(limit: Int, watchdog: Int64?, period: Int) {
    #expect(LoopWatchdog.period(limit: limit, watchdog) == period)
  }
}
