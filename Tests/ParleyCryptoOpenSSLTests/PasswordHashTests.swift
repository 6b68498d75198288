import ParleyCryptoOpenSSL
import Testing

@Suite("Passwords")
struct PasswordHashTests {
  @Test("a password matches its hash, and no other does")
  func matches() throws {
    let hash = PasswordHash(password: "correct horse é", cost: 1)
    #expect(hash.matches("correct horse é"))
    for other in ["", "correct horse", "correct horse e", "Correct horse é", "correct horse é "] {
      #expect(!hash.matches(other))
    }
    #expect(!hash.matches(String(repeating: "x", count: PasswordHash.passwordBytesMax + 1)))
    #expect(try #require(PasswordHash(hash.text)) == hash)
  }

  @Test(
    "a password matches in composed and decomposed form, and a foreign hash matches its own form"
  )
  func composition() throws {
    let spellings = ["caf\u{E9} 1", "cafe\u{301} 1"]
    for password in spellings {
      let hash = PasswordHash(password: password, cost: 1)
      for other in spellings { #expect(hash.matches(other)) }
      for other in ["Caf\u{E9} 1", "cafe 1", "caf\u{E9}  1", "caf\u{E9}\u{A0}1"] {
        #expect(!hash.matches(other))
      }
    }
    // Python's hashlib.scrypt over the UTF-8 of each, with n=2, r=8, p=1, dklen=32.
    let salt = "scrypt$1$8$1$c29kaXVtIGNobG9yaWRlIQ$"
    let composed = try #require(PasswordHash(salt + "hGRXYqooUuCUlpELeRYnr_G146y4GeRduYavXLFT4vM"))
    let decomposed = try #require(
      PasswordHash(salt + "3qDhmpH0lcLBRyc_76hrqMCAJiWnQNAoonHqefgHQmg"))
    #expect(spellings.map(composed.matches) == [true, true])
    #expect(spellings.map(decomposed.matches) == [false, true])
  }

  @Test("two hashes of one password differ")
  func salted() {
    #expect(
      PasswordHash(password: "x", cost: 1).text != PasswordHash(password: "x", cost: 1).text)
  }

  @Test("a known hash, from RFC 7914")
  func known() throws {
    // scrypt("password", "NaCl", 1024, 8, 16, 64) has another parallelism than is taken here: its
    // form is turned away rather than understood wrongly.
    #expect(PasswordHash("scrypt$10$8$16$TmFDbA$AAAA") == nil)
    // Python's hashlib.scrypt(b"password", salt=b"sodium chloride!", n=1024, r=8, p=1, dklen=32).
    let text = "scrypt$10$8$1$c29kaXVtIGNobG9yaWRlIQ$m6gG9qX59A8BT757zaWho8R4XlBXUPm_N893F_wGhgg"
    #expect(try #require(PasswordHash(text)).matches("password"))
  }

  @Test(
    "rejects a malformed hash, and one that asks for too much work",
    arguments: [
      "", "x", "scrypt$1$8$1$AAAAAAAAAAA$", "scrypt$18$8$1$AAAAAAAAAAA$HASH",
      "scrypt$0$8$1$AAAAAAAAAAA$HASH", "scrypt$1$8$1$AA$HASH", "bcrypt$1$8$1$AAAAAAAAAAA$HASH",
      "scrypt$1$8$1$AAAAAAAAAAA$HASH$", "scrypt$99999999999999999999$8$1$AAAAAAAAAAA$HASH",
    ])
  func garbage(text: String) {
    let hash = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    #expect(PasswordHash("scrypt$1$8$1$AAAAAAAAAAA$" + hash) != nil)
    #expect(PasswordHash(text.replacing("HASH", with: hash)) == nil)
  }
}
