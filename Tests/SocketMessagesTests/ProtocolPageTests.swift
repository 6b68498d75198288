import OTCore
import ParleyOTWorkloads
import SocketMessages
import Testing

@Suite("The protocol's page")
struct ProtocolPageTests {
  private let page: ProtocolPage

  init() throws { page = try ProtocolPage() }

  @Test("every example is decoded, and encoded again to the same bytes")
  func examples() throws {
    for example in try page.examples() {
      let dialect = try #require(
        Dialect.all.first { $0.direction.rawValue == example.direction }, "line \(example.line)")
      do throws(MessageError) {
        let decoded = try dialect.decode(Array(example.json.utf8))
        #expect(decoded.kind == example.type, "line \(example.line)")
        #expect(
          String(decoding: decoded.bytes, as: UTF8.self) == example.json, "line \(example.line)")
      } catch {
        Issue.record("line \(example.line): \(error.description)")
      }
    }
  }

  @Test("every message has an example and every example a message", arguments: Dialect.all)
  func complete(dialect: Dialect) throws {
    let shown = try page.examples().filter { $0.direction == dialect.direction.rawValue }
    #expect(Set(shown.map(\.type)).symmetricDifference(dialect.types).sorted() == [])
  }

  @Test("every native message has a heading of its own")
  func headings() throws {
    for dialect in [Dialect.client, .server] {
      for type in dialect.types { #expect(page.lines.contains("### \(type)"), "\(type)") }
    }
  }

  @Test("the generated messages have every kind", arguments: Dialect.all)
  func seeded(dialect: Dialect) throws {
    var random = SplitMix64(seed: 1)
    let kinds = try random.encoded(dialect).map { try dialect.decode($0).kind }
    #expect(Set(kinds.compactMap(\.self)) == dialect.types)
  }

  @Test("the page has every error code, and whether it is retryable")
  func errorCodes() throws {
    let rows = try page.table(headed: "| code | when | retryable | what to do |")
    #expect(rows.map { $0[0] }.sorted() == ErrorCode.allCases.map(\.rawValue).sorted())
    for row in rows {
      let code = try #require(ErrorCode(rawValue: row[0]))
      #expect(row[2] == (code.isRetryable ? "yes" : "no"), "\(row[0])")
    }
  }

  @Test("the page has every close code, in ranges that say whether to reconnect")
  func closeCodes() throws {
    let rows = try page.table(headed: "| code | name | when |")
    #expect(rows.map { $0[0] } == CloseReason.allCases.map { "\($0.rawValue)" })
    #expect(rows.map { $0[1] } == CloseReason.allCases.map { "\($0)" })
    for reason in CloseReason.allCases {
      #expect((4_000..<5_000).contains(reason.rawValue))
      #expect(reason.allowsReconnect == (reason.rawValue < 4_500))
    }
  }

  @Test("the page has every limit with its default")
  func limits() throws {
    let rows = try page.table(headed: "| limit | default | of |")
    let defaults = Limits().byName.map { [$0.name, "\($0.value)"] }
    #expect(rows.map { Array($0.prefix(2)) } == defaults)
  }

  @Test("the page has every reason for a resync")
  func resyncReasons() throws {
    let rows = try page.table(headed: "| `reason` | when |")
    #expect(
      rows.map { $0[0] }.sorted() == ServerMessage.ResyncReason.allCases.map(\.rawValue).sorted())
  }

  // MARK: The page's section on operations

  @Test("the operation in the section on operations does what it says")
  func workedOperation() throws {
    #expect(try operation(#"[6,"w",4]"#).applied(to: "Hello orld") == "Hello world")
  }

  @Test("the tie rule's example")
  func tieRule() throws {
    let committed = try operation(#"["X"]"#)
    let later = try operation(#"["Y"]"#).transformed(over: committed, side: .right)
    #expect(later == (try operation(#"[1,"Y"]"#)))
    #expect(try committed.composed(with: later).applied(to: "") == "XY")
  }

  @Test("two pairs compose to one operation, and a concurrent insertion distinguishes them")
  func composing() throws {
    let first = [try operation("[1,-1,1]"), try operation(#"[1,"X",1]"#)]
    let second = [try operation(#"[2,"X",1]"#), try operation("[1,-1,2]")]
    let composed = try operation(#"[1,-1,"X",1]"#)
    #expect(try first[0].composed(with: first[1]) == composed)
    #expect(try second[0].composed(with: second[1]) == composed)
    func typed(over history: [TextOperation]) throws -> String {
      var typed = try operation(#"[1,"y",2]"#)
      var text = "abc"
      for committed in history {
        typed = try typed.transformed(over: committed, side: .right)
        text = try committed.applied(to: text)
      }
      return try typed.applied(to: text)
    }
    #expect(try typed(over: first) == "aXyc")
    #expect(try typed(over: second) == "ayXc")
  }
}
