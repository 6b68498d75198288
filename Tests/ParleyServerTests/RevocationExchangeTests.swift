import FoundationEssentials
import ParleyGatewayPorts
import ParleyServer
import Testing

@Suite("The exchange of revocations")
struct RevocationExchangeTests {
  private func page(to place: Int, newest: Int, life: Int = 7) -> RevocationPage {
    RevocationPage(
      revocations: [], place: place, hasMore: place < newest, newest: newest, life: life)
  }

  @Test("a list that grows is read from the last position")
  func continues() {
    var exchange = RevocationExchange()
    for (place, newest) in [(0, 0), (1_000, 1_500), (1_500, 1_500), (1_500, 1_500), (1_501, 1_501)]
    {
      let isOther = exchange.take(page(to: place, newest: newest))
      #expect(!isOther)
      #expect(exchange.place == place)
    }
  }

  @Test("a truncated or replaced list is read and sent again")
  func lost() {
    for (newest, life) in [(4, 7), (5, 8), (9, 8), (0, 7)] {
      var exchange = RevocationExchange()
      _ = exchange.take(page(to: 5, newest: 5))
      let isOther = exchange.take(page(to: max(5, newest), newest: newest, life: life))
      #expect(isOther)
      #expect(exchange.place == 0)
      let isOtherAgain = exchange.take(page(to: newest, newest: newest, life: life))
      #expect(!isOtherAgain)
      #expect(exchange.place == newest)
    }
  }

  @Test("a node sends its whole file again, including revocations of other nodes")
  func again() throws {
    let path = FileManager.default.temporaryDirectory.path + "/revocations-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    #expect(RevocationFile.append(.token("own"), to: path))
    let revocations = try SharedRevocations(path: path, hasOthers: true, log: SilentLog())
    revocations.takeOver([.token("other")])
    #expect(revocations.takeUnshared(atMost: 9) == [.token("own")])
    revocations.shareAgain()
    #expect(Set(revocations.takeUnshared(atMost: 9)) == [.token("own"), .token("other")])
    // Revocations of other nodes are on the disk too.
    revocations.stop()
    #expect(
      try Set(String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")) == [
        "token own", "token other",
      ])
  }
}
