import ParleyOTWorkloads
import Testing
import ParleyWebSocketFrames

@Suite("Closing handshakes")
struct ClosingTests {
  private func handshake(_ side: FrameReader.Side = .server) -> ClosingHandshake {
    ClosingHandshake(side: side, closeMilliseconds: 5000, lingerMilliseconds: 2000)
  }

  private func frame(_ status: CloseStatus?, _ reason: String = "") -> ClosingHandshake.Action {
    .send(.init(status: status, reason: reason))
  }

  @Test func `a server that is closed answers, then closes TCP first`() {
    var closing = handshake()
    #expect(closing.received(.normal, now: 100) == frame(.normal))
    #expect(!closing.isOpen)
    #expect(!closing.readsFrames)
    #expect(closing.deadline == 5100)
    #expect(closing.drained(now: 150) == .closeConnection)
    #expect(closing.deadline == nil)
    #expect(closing.drained(now: 160) == .none)
  }

  @Test func `an empty close frame is answered by an empty one`() {
    var closing = handshake()
    #expect(closing.received(nil, now: 0) == frame(nil))
  }

  @Test func `a server that closes waits for the peer's frame, then closes TCP`() {
    var closing = handshake()
    #expect(closing.close(.goingAway, reason: "stop", now: 0) == frame(.goingAway, "stop"))
    #expect(closing.close(.normal, now: 1) == .none)
    #expect(closing.readsFrames)
    #expect(closing.drained(now: 10) == .none)
    #expect(closing.received(.goingAway, now: 20) == .closeConnection)
  }

  @Test func `an answer before the frame's last bytes has no effect`() {
    var closing = handshake()
    _ = closing.close(.goingAway, now: 0)
    #expect(closing.received(.goingAway, now: 1) == .none)
    #expect(closing.drained(now: 2) == .closeConnection)
  }

  @Test func `a client leaves closing TCP to the server, for a while`() {
    var closing = handshake(.client)
    _ = closing.close(.normal, now: 0)
    #expect(closing.drained(now: 1) == .none)
    #expect(closing.received(.normal, now: 2) == .none)
    #expect(closing.deadline == 2002)
    #expect(closing.expired(now: 2001) == .none)
    #expect(closing.expired(now: 2002) == .closeConnection)
    var quick = handshake(.client)
    #expect(quick.received(.goingAway, now: 0) == frame(.goingAway))
    #expect(quick.drained(now: 1) == .none)
    #expect(quick.peerEnded() == .closeConnection)
    #expect(quick.peerEnded() == .none)
  }

  @Test func `after a failure sending ends, and received bytes are dropped for a while`() {
    var closing = handshake()
    let error = FrameError.notMasked
    #expect(closing.failed(error, now: 0) == frame(.protocolError, error.reason))
    #expect(!closing.readsFrames)
    #expect(closing.drained(now: 10) == .endSending)
    #expect(closing.deadline == 2010)
    #expect(closing.drained(now: 11) == .none)
    #expect(closing.expired(now: 2010) == .closeConnection)
  }

  @Test func `a failure after the close frame sends no second one`() {
    var closing = handshake()
    _ = closing.close(.normal, now: 0)
    #expect(closing.failed(.masked, now: 1) == .none)
    #expect(closing.drained(now: 2) == .endSending)
    var drained = handshake()
    _ = drained.close(.normal, now: 0)
    _ = drained.drained(now: 1)
    #expect(drained.failed(.masked, now: 2) == .endSending)
  }

  @Test func `waiting for a peer that neither reads nor answers ends`() {
    var silent = handshake()
    _ = silent.close(.goingAway, now: 0)
    _ = silent.drained(now: 1)
    #expect(silent.expired(now: 4999) == .none)
    #expect(silent.expired(now: 5000) == .closeConnection)
    var stuck = handshake()
    _ = stuck.received(.normal, now: 0)
    #expect(stuck.expired(now: 5000) == .closeConnection)
  }

  @Test(arguments: Seeds.smoke)
  func `one close frame at most, and an end in any case`(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    for _ in 0..<100 {
      var closing = handshake(generator.chance(50) ? .server : .client)
      var frames = 0
      var ends = 0
      var endsOfSending = 0
      var now: Int64 = 0
      func note(_ action: ClosingHandshake.Action) {
        #expect(ends == 0 || action == .none)
        switch action {
        case .none: break
        case .send: frames += 1
        case .endSending: endsOfSending += 1
        case .closeConnection: ends += 1
        }
      }
      for _ in 0..<12 {
        now += Int64(generator.below(3000))
        switch generator.below(7) {
        case 0: note(closing.close(.normal, now: now))
        case 1 where closing.readsFrames: note(closing.received(.goingAway, now: now))
        case 2 where closing.readsFrames: note(closing.failed(.masked, now: now))
        case 3 where generator.chance(20): note(closing.peerEnded())
        case 4: note(closing.expired(now: now))
        default: note(closing.drained(now: now))
        }
        // Whatever waits has a limit.
        #expect(closing.isOpen || ends == 1 || closing.deadline != nil)
      }
      if !closing.isOpen, ends == 0 {
        note(closing.expired(now: closing.deadline ?? 0))
        #expect(ends == 1)
      }
      #expect(frames <= 1 && endsOfSending <= 1)
    }
  }
}
