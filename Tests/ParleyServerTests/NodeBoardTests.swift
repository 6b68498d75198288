import ParleyServer
import Testing

/// The gateways of one database, as each of them knows the others.
@Suite("The board of gateways")
struct NodeBoardTests {
  private func report(_ name: String, run: String? = nil) -> NodeReport {
    NodeReport(
      run: run ?? "run of \(name)", name: name, version: "1", startedAt: 5, loops: 2,
      connections: 3, notes: 4, lag: 250)
  }

  private func begins(_ board: inout ClusterStatus, _ now: Int64) -> Bool { board.begins(now: now) }

  private func names(_ board: ClusterStatus, now: Int64) -> [String] {
    board.list(now: now).map(\.report.name)
  }

  @Test("a report is decoded as it was encoded")
  func coding() {
    var report = report("n\u{0}é\"")
    #expect(NodeReport(report.encoded) == report)
    report.lag = nil
    #expect(NodeReport(report.encoded) == report)
    let long = self.report(String(repeating: "🐦", count: 500), run: "long")
    #expect(long.encoded.count <= NodeReport.bytesMax)
    #expect(NodeReport(long.encoded) == long)
  }

  @Test(
    "malformed reports are ignored",
    arguments: [
      "", "{}", "[]", #"{"run":"a"}"#,
      #"{"run":"","name":"n","version":"1","started":1,"loops":1,"connections":1,"notes":1}"#,
      #"{"run":"a","name":"n","version":"1","started":"1","loops":1,"connections":1,"notes":1}"#,
    ])
  func nonsense(text: String) {
    var board = ClusterStatus()
    board.hear(Array(text.utf8), own: "me", now: 0)
    let long = [UInt8](repeating: 0x20, count: NodeReport.bytesMax) + Array(text.utf8)
    board.hear(long, own: "me", now: 0)
    #expect(board.list(now: 0).isEmpty)
  }

  @Test("other nodes are listed by name with the time since their last message, and expire")
  func silence() {
    var board = ClusterStatus()
    #expect(begins(&board, 0))
    board.hear(report("b").encoded, own: "me", now: 100)
    board.hear(report("a").encoded, own: "me", now: 200)
    board.hear(report("me", run: "me").encoded, own: "me", now: 200)
    #expect(names(board, now: 300) == ["a", "b"])
    #expect(board.list(now: 1_300).map(\.silence) == [1_100, 1_200])
    board.hear(report("a").encoded, own: "me", now: 50_000)
    #expect(begins(&board, ClusterStatus.keptMilliseconds + 100))
    #expect(names(board, now: ClusterStatus.keptMilliseconds + 100) == ["a"])
  }

  @Test("a report is sent every two seconds, and soon to a new node")
  func pauses() {
    var board = ClusterStatus()
    #expect(begins(&board, 1_000))
    #expect(!begins(&board, 999 + ClusterStatus.reportMilliseconds))
    #expect(begins(&board, 1_000 + ClusterStatus.reportMilliseconds))
    board.hear(report("a").encoded, own: "me", now: 3_000)
    #expect(!begins(&board, 2_999 + ClusterStatus.greetingMilliseconds))
    #expect(begins(&board, 3_000 + ClusterStatus.greetingMilliseconds))
    board.hear(report("a").encoded, own: "me", now: 3_500)
    #expect(!begins(&board, 3_000 + 2 * ClusterStatus.greetingMilliseconds))
  }

  @Test("nodes above the maximum are ignored")
  func bound() {
    var board = ClusterStatus()
    for number in 0..<(ClusterStatus.nodesMax + 10) {
      board.hear(report("\(number)").encoded, own: "me", now: 0)
    }
    #expect(board.list(now: 0).count == ClusterStatus.nodesMax)
    board.hear(report("0").encoded, own: "me", now: 500)
    #expect(board.list(now: 500).contains { $0.silence == 0 })
  }
}
