import ParleyCryptoOpenSSL
import ParleyHashing
import Testing

@Suite("Hashes, names and tokens")
struct CryptoTests {
  @Test(
    "SHA-256 gives the digests of FIPS 180-2",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
    ])
  func sha256(text: String, digest: String) {
    let hash = SHA256()
    // Twice, for the context is used again.
    for _ in 0..<2 { #expect(hexadecimal(hash.hash(Array(text.utf8)).bytes) == digest) }
  }

  @Test("random names consist of letters and digits, and differ")
  func names() {
    let source = RandomNames()
    var seen: Set<String> = []
    for _ in 0..<1_000 {
      let name = source.next()
      #expect(name.utf8.count == 22)
      #expect(name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) })
      #expect(seen.insert(name).inserted)
    }
  }

  @Test("a token is valid for its client and secret alone")
  func tokens() {
    let tokens = HMACResumeTokens(secret: Array(repeating: 7, count: 32))
    let others = HMACResumeTokens(secret: Array(repeating: 8, count: 32))
    let token = tokens.token(for: "ann")
    #expect(token.utf8.count == 64)
    #expect(tokens.isValid(token, for: "ann"))
    #expect(!tokens.isValid(token, for: "ben"))
    #expect(!others.isValid(token, for: "ann"))
    for wrong in ["", "ann", String(token.dropLast()), token + "0", token.uppercased() + "x"] {
      #expect(!tokens.isValid(wrong, for: "ann"))
    }
    var flipped = Array(token.utf8)
    flipped[63] ^= 1
    #expect(!tokens.isValid(String(decoding: flipped, as: UTF8.self), for: "ann"))
  }

  @Test("a token stays the same across releases")
  func stability() {
    // HMAC-SHA256 over "parley resume token", a zero byte, and "ann".
    let tokens = HMACResumeTokens(secret: Array(0..<32))
    #expect(
      tokens.token(for: "ann")
        == "f0b7fe8e6a44ff9dfef1a95791607340bd96c70d5466e91463db3f02829d239d")
  }

  @Test("the requested number of random bytes is generated, and they differ each time")
  func bytes() {
    #expect(randomBytes(count: 0).isEmpty)
    #expect(randomBytes(count: 32).count == 32)
    #expect(randomBytes(count: 32) != randomBytes(count: 32))
  }

  private func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef")
    return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }
}
