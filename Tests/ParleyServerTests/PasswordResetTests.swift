import ParleyCryptoOpenSSL
import ParleyServer
import Testing

@Suite("Links for new passwords")
struct PasswordResetTests {
  private let resets = PasswordResets(secret: [UInt8](repeating: 7, count: 32))

  @Test("a token is valid for its user, password and hour alone")
  func validity() {
    let token = resets.token(user: "ada", password: "hash 1", now: 1_000)
    #expect(PasswordResets.user(in: token) == "ada")
    #expect(resets.isValid(token, password: "hash 1", now: 1_000))
    #expect(resets.isValid(token, password: "hash 1", now: 3_600_999))
    #expect(!resets.isValid(token, password: "hash 1", now: 3_601_000))
    #expect(!resets.isValid(token, password: "hash 2", now: 1_000))
    let others = PasswordResets(secret: [UInt8](repeating: 8, count: 32))
    #expect(!others.isValid(token, password: "hash 1", now: 1_000))
  }

  @Test("no changed token is valid")
  func changes() {
    let token = Array(resets.token(user: "ada", password: "p", now: 0).utf8)
    for place in token.indices.dropLast() {
      var changed = token
      changed[place] = changed[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      let text = String(decoding: changed, as: UTF8.self)
      #expect(!resets.isValid(text, password: "p", now: 0), "byte \(place)")
    }
  }

  @Test("other texts name no user", arguments: ["", "pr_", "pr_AAAA", "ada", "pr_\u{e9}"])
  func others(text: String) {
    #expect(PasswordResets.user(in: text) == nil)
    #expect(!resets.isValid(text, password: "", now: 0))
  }

  @Test("requests are limited by address, by account and overall, in each hour")
  func limits() {
    var requests = ResetRequests()
    for number in 0..<ResetRequests.addressMax {
      let verdict = requests.count(address: "192.0.2.1", account: "ada", now: 0)
      #expect(verdict == (number < ResetRequests.accountMax ? .allowed : .silent))
    }
    #expect(requests.count(address: "192.0.2.1", account: "bea", now: 1_000) == .refused(3_599_000))
    #expect(requests.count(address: "192.0.2.2", account: "ada", now: 1_000) == .silent)
    #expect(requests.count(address: "192.0.2.2", account: nil, now: 1_000) == .silent)
    // A local proxy has one address for all of its clients.
    for _ in 0...ResetRequests.addressMax {
      #expect(requests.count(address: "127.0.0.1", account: nil, now: 1_000) == .silent)
    }
    // The first 64 bits of an IPv6 address are one subscriber.
    for host in 0..<ResetRequests.addressMax {
      _ = requests.count(address: "2001:db8::\(host)", account: nil, now: 1_000)
    }
    #expect(requests.count(address: "2001:db8::ffff", account: nil, now: 3_599_999) == .refused(1))
    #expect(requests.count(address: "192.0.2.1", account: "ada", now: 3_600_000) == .allowed)
    var sent = 1
    for number in 0..<2 * ResetRequests.allMax {
      let address = "198.51.\(number / 250).\(number % 250)"
      if requests.count(address: address, account: "u\(number)", now: 3_600_001) == .allowed {
        sent += 1
      }
    }
    #expect(sent == ResetRequests.allMax)
  }

  @Test("addresses are counted in bounded memory")
  func bounded() {
    var requests = ResetRequests()
    for number in 0..<ResetRequests.addressesMax {
      #expect(requests.count(address: "a\(number)", account: nil, now: 0) == .silent)
    }
    #expect(requests.count(address: "another", account: nil, now: 0) == .refused(3_600_000))
    #expect(requests.count(address: "a1", account: nil, now: 0) == .silent)
  }
}
