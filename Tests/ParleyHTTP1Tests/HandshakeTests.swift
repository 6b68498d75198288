import ParleyHTTP1
import Testing

@Suite("Answers to handshakes")
struct HandshakeTests {
  @Test func `the RFC's example`() {
    #expect(
      WebSocketHandshake.accept(for: "dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
  }

  @Test(
    arguments: [
      ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
      ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
      ),
      (String(repeating: "a", count: 1000), "291e9a6c66994949b57ba5e650361e98fc36b1ba"),
    ])
  func `SHA-1 of the standard's examples`(text: String, digest: String) {
    let hex = SHA1.digest(of: Array(text.utf8)).map {
      String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)
    }.joined()
    #expect(hex == digest)
  }

  @Test(
    arguments: [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
      ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ])
  func `base64 of RFC 4648's examples`(text: String, encoded: String) {
    #expect(WebSocketHandshake.base64(Array(text.utf8)) == encoded)
  }
}
