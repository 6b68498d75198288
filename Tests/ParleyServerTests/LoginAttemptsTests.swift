import ParleyServer
import Testing

@Suite("Logins that fail")
struct LoginAttemptsTests {
  private var attempts = LoginAttempts()

  @Test("five are free, then each waits longer, up to five minutes")
  mutating func growing() {
    var waits: [Int64] = []
    for _ in 0..<16 {
      attempts.failed(address: "192.0.2.1", user: "ada", now: 0)
      waits.append(attempts.wait(address: "192.0.2.1", user: "ada", now: 0))
    }
    #expect(waits.prefix(6) == [0, 0, 0, 0, 1_000, 2_000])
    #expect(waits.last == 300_000)
    #expect(attempts.wait(address: "192.0.2.1", user: "ada", now: 300_000) == 0)
  }

  @Test("guesses from one address lock no other address out")
  mutating func addresses() {
    for _ in 0..<10 { attempts.failed(address: "192.0.2.1", user: "ada", now: 0) }
    #expect(attempts.wait(address: "192.0.2.1", user: "ada", now: 0) > 0)
    #expect(attempts.wait(address: "192.0.2.2", user: "ada", now: 0) == 0)
    #expect(attempts.wait(address: "192.0.2.1", user: "bea", now: 0) == 0)
  }

  @Test("addresses of one network of IPv6 are one, and count without a user, too")
  mutating func networks() {
    for index in 0..<60 {
      attempts.failed(address: "2001:db8::\(index)", user: nil, now: 0)
    }
    #expect((1...10_000).contains(attempts.wait(address: "2001:db8::ffff:1", user: "ada", now: 0)))
    #expect(attempts.wait(address: "2001:db8:0:1::1", user: "ada", now: 0) == 0)
    for index in 0..<6 {
      attempts.failed(address: "2001:db8:2::\(index)", user: "bea", now: 0)
    }
    #expect(attempts.wait(address: "2001:db8:2::99", user: "bea", now: 0) > 0)
  }

  @Test("an address that goes through many users is slowed down")
  mutating func spraying() {
    for index in 0..<60 { attempts.failed(address: "192.0.2.1", user: "user \(index)", now: 0) }
    let wait = attempts.wait(address: "192.0.2.1", user: "another", now: 0)
    #expect((1...10_000).contains(wait))
  }

  @Test("a proxy on this machine does not count as one client")
  mutating func proxy() {
    for index in 0..<60 { attempts.failed(address: "127.0.0.1", user: "user \(index)", now: 0) }
    #expect(attempts.wait(address: "127.0.0.1", user: "another", now: 0) == 0)
  }

  @Test("success and time forget")
  mutating func forgetting() {
    for _ in 0..<5 { attempts.failed(address: "a", user: "ada", now: 0) }
    attempts.succeeded(address: "a", user: "ada")
    #expect(attempts.wait(address: "a", user: "ada", now: 0) == 0)
    for _ in 0..<5 { attempts.failed(address: "a", user: "bea", now: 0) }
    attempts.failed(address: "a", user: "bea", now: 900_000)
    #expect(attempts.wait(address: "a", user: "bea", now: 900_000) == 0)
  }

  @Test("the counts are bounded; an address with many of them replaces its own")
  mutating func bounded() {
    for _ in 0..<6 { fail("192.0.2.1", "ada") }
    for index in 0..<30_000 { fail("198.51.100.1", "\(index)") }
    let wait = attempts.wait(address: "192.0.2.1", user: "ada", now: 0)
    #expect(wait > 0)
    fail("192.0.2.1", "ada")
    #expect(attempts.wait(address: "192.0.2.1", user: "ada", now: 0) > wait)
    // New addresses are counted too.
    for _ in 0..<6 { fail("192.0.2.9", "bea") }
    #expect(attempts.wait(address: "192.0.2.9", user: "bea", now: 0) > 0)
  }

  @Test("many addresses do not keep new ones from being counted")
  mutating func crowd() {
    for index in 0..<30_000 { fail("2001:db8:\(String(index, radix: 16))::1", "ada") }
    for _ in 0..<6 { fail("192.0.2.9", "ada") }
    #expect(attempts.wait(address: "192.0.2.9", user: "ada", now: 0) > 0)
  }

  // MARK: Concurrent attempts

  @Test(
    "however many are sent at once, no more are tried than may fail",
    arguments: [1, 5, 6, 32, 1_000], [nil, "ada"] as [String?])
  mutating func atOnce(count: Int, user: String?) {
    let free = user == nil ? LoginAttempts.freeForAddress : LoginAttempts.freeForUser
    var tried = 0
    for _ in 0..<count {
      tried += attempts.begin(address: "192.0.2.1", user: user, now: 0) == 0 ? 1 : 0
    }
    #expect(tried == min(count, free))
    for _ in 0..<tried { attempts.failed(address: "192.0.2.1", user: user, now: 0) }
    guard count >= free else { return }
    #expect(attempts.begin(address: "192.0.2.1", user: user, now: 0) == 1_000)
    // After that, one attempt at a time is allowed.
    let again = (0..<count).count { _ in
      attempts.begin(address: "192.0.2.1", user: user, now: 1_000) == 0
    }
    #expect(again == 1)
  }

  @Test("many users of one address count together, however they are mixed")
  mutating func sprayingAtOnce() {
    let tried = (0..<1_000).count { index in
      attempts.begin(address: "2001:db8::\(index)", user: "user \(index)", now: 0) == 0
    }
    #expect(tried == LoginAttempts.freeForAddress)
  }

  @Test("an attempt that succeeds or is cancelled is given back", arguments: [true, false])
  mutating func givenBack(succeeds: Bool) {
    for _ in 0..<100 {
      #expect(attempts.begin(address: "192.0.2.1", user: "ada", now: 0) == 0)
      if succeeds {
        attempts.succeeded(address: "192.0.2.1", user: "ada")
      } else {
        attempts.cancelled(address: "192.0.2.1", user: "ada")
      }
    }
    let tried = (0..<32).count { _ in
      attempts.begin(address: "192.0.2.1", user: "ada", now: 0) == 0
    }
    #expect(tried == LoginAttempts.freeForUser)
  }

  private mutating func fail(_ address: String, _ user: String) {
    attempts.failed(address: address, user: user, now: 0)
  }
}
