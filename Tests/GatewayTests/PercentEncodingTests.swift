import ParleyGatewayPorts
import Testing

@Suite("Bytes written as %41")
struct PercentEncodingTests {
  @Test(
    arguments: [
      ("", ""), ("plain", "plain"), ("%41%62", "Ab"), ("%c3%A9%20%25", "é %"),
      ("%f0%9f%98%80", "😀"),
    ])
  func `decodes valid encodings`(written: String, meant: String) {
    #expect(PercentEncoding.decoded(written[...])?.utf8.elementsEqual(meant.utf8) ?? false)
  }

  @Test(arguments: ["%", "%4", "%zz", "%+f", "%-1", "% 1", "%e4", "%ed%a0%80", "a%"])
  func `refuses invalid encodings`(written: String) {
    #expect(PercentEncoding.decoded(written[...]) == nil)
  }
}
