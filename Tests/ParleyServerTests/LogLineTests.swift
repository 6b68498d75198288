import ParleyGatewayPorts
import ParleyServer
import Testing

@Suite("Log lines")
struct LogLineTests {
  private func line(_ format: LogFormat, _ data: [(key: String, value: String)]) -> String {
    String(
      decoding: LogLine.bytes(
        format, .info, "listening", data, seconds: 1_700_000_000, milliseconds: 7),
      as: UTF8.self)
  }

  @Test("text is for people")
  func text() {
    #expect(
      line(.text, [("port", "8080"), ("why", "a b"), ("none", "")])
        == "2023-11-14T22:13:20.007Z info    listening port=8080 why=\"a b\" none=\"\"\n")
  }

  @Test("JSON is one object a line")
  func json() {
    #expect(
      line(.json, [("port", "8080")])
        == #"{"time":"2023-11-14T22:13:20.007Z","level":"info","message":"listening","port":"8080"}"#
        + "\n")
  }

  @Test("no text forges a line", arguments: LogFormat.allCases)
  func control(format: LogFormat) {
    let text = line(format, [("peer", "a\nb\u{1B}[0m\"\\")])
    #expect(text.utf8.filter { $0 < 0x20 } == [10])
    #expect(text.contains(#""a\u000ab\u001b[0m\"\\""#))
  }
}
