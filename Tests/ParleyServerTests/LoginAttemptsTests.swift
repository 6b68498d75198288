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

  @Test("guesses from elsewhere lock nobody out")
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

  @Test("a proxy on this machine is not everybody who comes through it")
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

  @Test("what is remembered is bounded, and those who wait go on waiting")
  mutating func bounded() {
    for _ in 0..<6 { attempts.failed(address: "192.0.2.1", user: "ada", now: 0) }
    for index in 0..<30_000 { attempts.failed(address: "127.0.0.1", user: "\(index)", now: 0) }
    let wait = attempts.wait(address: "192.0.2.1", user: "ada", now: 0)
    #expect(wait > 0)
    // Who is known goes on to be counted, and newcomers are when there is room again.
    attempts.failed(address: "192.0.2.1", user: "ada", now: 0)
    #expect(attempts.wait(address: "192.0.2.1", user: "ada", now: 0) > wait)
    for now: Int64 in [500, 900_500] {
      for _ in 0..<6 { attempts.failed(address: "192.0.2.9", user: "bea", now: now) }
      #expect((attempts.wait(address: "192.0.2.9", user: "bea", now: now) > 0) == (now > 900_000))
    }
  }

  @Test("an address that holds sign-ins at the provider leaves places to others")
  func places() {
    var places = SignInPlaces(countMax: 20)
    func take(_ count: Int, by address: String) -> Int {
      (0..<count).count { _ in places.take(by: address) }
    }
    #expect(take(20, by: "192.0.2.1") == SignInPlaces.countMaxOfAddress)
    #expect(take(1, by: "192.0.2.2") == 1)
    places.give(by: "192.0.2.1")
    #expect(take(2, by: "192.0.2.1") == 1)
    // Whoever comes through a proxy of this machine shares its places with all who do.
    #expect(take(20, by: "127.0.0.1") == 11)
    #expect(take(1, by: "192.0.2.3") == 0)
  }
}
