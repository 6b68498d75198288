import SocketMessages

/// A client's connection: opens it, says hello, keeps it alive, and opens another after a loss.
///
///                 token                                      hello taken
///     authorising ─────▶ connecting ──opened──▶ greeting ──────────────▶ online
///       ▲                 ▲  │                    │                        │
///       │      no tokens  │  └────── loss ────────┤◀────── loss ───────────┘
///       └── waiting ──────┘◀───── back-off ───────┘
///
/// stopped: the app has not started it; or the server forbids reconnecting
///
/// It knows nothing of notes and rooms.
struct Line: Sendable {
  /// A change of the line that concerns all that goes over it.
  enum Signal {
    /// Messages can be sent.
    case online
    /// They no longer can.
    case lost
  }

  /// An answer to a message of the line's own.
  struct Answered {
    let line: Signal?
  }

  private(set) var settings: ClientSettings
  private(set) var state = LineState.stopped(.asked)
  /// The client's identity.
  private(set) var claim: ClientClaim?
  /// The person that the server has taken it for.
  private(set) var person: String?
  /// The server's limits.
  private(set) var limits = Limits()
  /// A claim that the server did not know just now.
  private var doubted: ClientClaim?
  private var chance: SeededChance

  private var token: String?
  /// The token that a hello or a refresh has carried, while it has no answer.
  private var sentToken: String?
  /// The token that the server has taken last.
  private var goodToken: String?
  private var isTokenAsked = false
  /// Whether a token came that no hello has carried yet.
  private var isTokenFresh = false
  private var helloMessage: Int?
  private var refreshMessage: Int?
  /// The time at which a rate-limited refresh is tried again.
  private var refreshAt: Int64?

  private var attempts = 0
  /// The range of the next delay, as the server asked.
  private var askedDelay: ClosedRange<Int64>?
  /// The time at which the state has lasted too long: an opening, a silence, a delay.
  private var stateEnds: Int64?
  /// Whether a sign of life was asked for.
  private var isPinged = false
  private var welcomedAt: Int64 = 0

  init(settings: ClientSettings, claim: ClientClaim?, person: String?, seed: UInt64) {
    self.settings = settings
    self.claim = claim
    self.person = person
    chance = SeededChance(seed: seed)
  }

  var isOnline: Bool { state == .online }

  /// The next time at which something is to be done.
  var deadline: Int64? { earlier(stateEnds, refreshAt) }

  private var timing: ClientTiming { settings.timing }

  // MARK: The app

  mutating func start(_ turn: inout Turn) {
    guard case .stopped = state else { return }
    attempts = 0
    connect(&turn)
  }

  mutating func stop(_ turn: inout Turn) -> Signal? {
    let signal = release(&turn, hangsUp: true)
    // The next start may be another person's: a token from before, or one that is on its way, is
    // not theirs.
    isTokenAsked = false
    isTokenFresh = false
    become(.stopped(.asked), &turn)
    return signal
  }

  /// The client becomes another person's from here: it has no identity yet.
  mutating func changePerson(_ turn: inout Turn) {
    guard state == .stopped(.otherPerson) else { return }
    claim = nil
    person = nil
    start(&turn)
  }

  /// The network is available again: there is no sense in waiting, and the connection may be dead.
  mutating func reachable(_ turn: inout Turn) {
    switch state {
    case .waiting:
      attempts = 0
      connect(&turn)
    case .online: ping(within: timing.probeWithin, &turn)
    case .stopped, .authorising, .connecting, .greeting: break
    }
  }

  mutating func profile(_ name: String, _ color: String?, _ turn: inout Turn) {
    settings.name = name
    settings.color = color
    if isOnline { turn.send(.profile(.init(name: name, color: color))) }
  }

  mutating func token(_ token: String?, _ turn: inout Turn) {
    isTokenAsked = false
    guard let token else {
      // Without a token an open connection continues until the server ends it.
      if state == .authorising { become(.stopped(.noToken), &turn) }
      return
    }
    self.token = token
    isTokenFresh = true
    switch state {
    case .authorising, .stopped(.noToken): connect(&turn)
    case .online: refresh(&turn)
    case .stopped, .connecting, .greeting, .waiting: break
    }
  }

  mutating func wake(_ turn: inout Turn) -> Signal? {
    if let time = refreshAt, time <= turn.now {
      refreshAt = nil
      if isOnline { refresh(&turn) }
    }
    guard let time = stateEnds, time <= turn.now else { return nil }
    stateEnds = nil
    switch state {
    case .connecting, .greeting: return lose(&turn, hangsUp: true)
    case .waiting:
      connect(&turn)
      return nil
    case .online where isPinged: return lose(&turn, hangsUp: true)
    case .online:
      ping(within: timing.answerWithin, &turn)
      return nil
    case .stopped, .authorising: return nil
    }
  }

  // MARK: The connection

  private mutating func connect(_ turn: inout Turn) {
    stateEnds = nil
    guard !settings.usesTokens || isTokenFresh else {
      become(.authorising, &turn)
      ask(&turn)
      return
    }
    become(.connecting, &turn)
    stateEnds = turn.after(timing.openWithin)
    turn.actions.append(.connect)
  }

  private mutating func ask(_ turn: inout Turn) {
    guard !isTokenAsked else { return }
    isTokenAsked = true
    turn.actions.append(.needToken)
  }

  mutating func opened(_ turn: inout Turn) {
    guard state == .connecting else { return }
    become(.greeting, &turn)
    sayHello(&turn)
  }

  private mutating func sayHello(_ turn: inout Turn) {
    isTokenFresh = false
    sentToken = token
    helloMessage = turn.send(
      .hello(
        .init(
          name: settings.name, color: settings.color, client: claim, token: token,
          takesNumbers: settings.takesNumbers,
          numbersMax: settings.takesNumbers ? ServerMessage.Author.numbersMax : nil)))
  }

  /// The socket is closed, for whatever reason.
  mutating func closed(_ code: UInt16, _ turn: inout Turn) -> Signal? {
    switch state {
    case .stopped, .authorising, .waiting: return nil
    case .connecting, .greeting, .online: break
    }
    guard code >= 4500, code <= 4999 else { return lose(&turn, hangsUp: false) }
    if code == CloseReason.tokenExpired.rawValue, settings.usesTokens {
      // Another token, and on: but one that ends at once would have this go round and round.
      guard isOnline, turn.now - welcomedAt >= timing.tokenLeast else {
        return lose(&turn, hangsUp: false)
      }
      let signal = release(&turn, hangsUp: false)
      connect(&turn)
      return signal
    }
    let signal = release(&turn, hangsUp: false)
    become(.stopped(.closed(code: code)), &turn)
    return signal
  }

  /// Gives the connection up, and waits before the next.
  private mutating func lose(_ turn: inout Turn, hangsUp: Bool) -> Signal? {
    let signal = release(&turn, hangsUp: hangsUp)
    let usual = min(timing.longestDelay, timing.firstDelay << Int64(min(attempts, 20)))
    attempts = min(attempts + 1, 20)
    // Spread at random, or all clients of a restarted server would reconnect in one wave.
    let delay = chance.draw(from: askedDelay ?? usual / 2...usual)
    askedDelay = nil
    let until = turn.after(delay)
    stateEnds = until
    become(.waiting(until: until), &turn)
    return signal
  }

  /// Releases the connection, and drops all that was to come over it.
  private mutating func release(_ turn: inout Turn, hangsUp: Bool) -> Signal? {
    var signal: Signal?
    switch state {
    case .stopped, .authorising, .waiting: break
    case .connecting, .greeting: if hangsUp { turn.actions.append(.disconnect) }
    case .online:
      if hangsUp { turn.actions.append(.disconnect) }
      signal = .lost
    }
    if claim == nil { claim = doubted }
    doubted = nil
    helloMessage = nil
    refreshMessage = nil
    refreshAt = nil
    stateEnds = nil
    isPinged = false
    return signal
  }

  private mutating func become(_ state: LineState, _ turn: inout Turn) {
    guard state != self.state else { return }
    self.state = state
    turn.actions.append(.line(state))
  }

  // MARK: Messages

  /// Something came: the connection is alive.
  mutating func heard(_ turn: inout Turn) {
    guard isOnline else { return }
    isPinged = false
    stateEnds = turn.after(timing.quietBeforePing)
  }

  private mutating func ping(within milliseconds: Int64, _ turn: inout Turn) {
    isPinged = true
    stateEnds = turn.after(milliseconds)
    turn.send(.ping)
  }

  mutating func receive(
    _ message: ServerMessage, answering number: Int?, _ turn: inout Turn
  ) -> Signal? {
    switch message {
    case .welcome(let welcome):
      guard state == .greeting, number == helloMessage else { return nil }
      return welcomed(welcome, &turn)
    case .refreshed:
      guard number == refreshMessage else { return nil }
      refreshMessage = nil
      goodToken = sentToken
      turn.actions.append(.refreshed(nil))
    case .tokenExpiring(let end):
      guard isOnline else { return nil }
      if settings.usesTokens { ask(&turn) }
      turn.actions.append(.tokenEnds(at: end.expiresAt))
    case .goodbye(let goodbye):
      let longest: Int64 = 3_600_000
      let first = min(max(Int64(goodbye.reconnectAfter.lowerBound), 0), longest)
      let last = min(max(Int64(goodbye.reconnectAfter.upperBound), 0), longest)
      askedDelay = first...last
    default: break
    }
    return nil
  }

  private mutating func welcomed(
    _ welcome: ServerMessage.Welcome, _ turn: inout Turn
  ) -> Signal? {
    if settings.isOnePersons, let person, !(welcome.personID?.isSame(as: person) ?? false) {
      // The person has changed: the edits at hand are not theirs. The client keeps its identity.
      let signal = release(&turn, hangsUp: true)
      become(.stopped(.otherPerson), &turn)
      return signal
    }
    helloMessage = nil
    doubted = nil
    attempts = 0
    limits = welcome.limits
    welcomedAt = turn.now
    let new = ClientClaim(id: welcome.clientID, resumeToken: welcome.resumeToken)
    let isNews =
      claim.map { !$0.id.isSame(as: new.id) || !$0.resumeToken.isSame(as: new.resumeToken) } ?? true
    claim = new
    let isOther = (person == nil) != (welcome.personID == nil)
    person = welcome.personID
    goodToken = sentToken
    if isNews || isOther { turn.actions.append(.claim(new)) }
    become(.online, &turn)
    turn.actions.append(.welcome(welcome))
    isPinged = false
    stateEnds = turn.after(timing.quietBeforePing)
    // One that came between the hello and its answer.
    if isTokenFresh { refresh(&turn) }
    return .online
  }

  private mutating func refresh(_ turn: inout Turn) {
    guard let token else { return }
    isTokenFresh = false
    refreshAt = nil
    sentToken = token
    refreshMessage = turn.send(.refresh(.init(token: token)))
  }

  /// An answer came that cannot be read; `nil` if it does not answer the hello.
  ///
  /// A server of another version would greet no better the second time: it has greeted already.
  mutating func misread(answering number: Int, _ turn: inout Turn) -> Answered? {
    guard number == helloMessage else { return nil }
    let signal = release(&turn, hangsUp: true)
    become(.stopped(.refused(.badMessage)), &turn)
    return Answered(line: signal)
  }

  /// An error came in reply to a message; `nil` if the message was not the line's own.
  mutating func failed(
    _ error: ServerMessage.Failure, answering number: Int, _ turn: inout Turn
  ) -> Answered? {
    if number == refreshMessage {
      refreshMessage = nil
      if error.retryable {
        refreshAt = turn.after(error.retryAfter, or: timing.retryAfter)
      } else {
        // A token that is refused changes nothing: the connection ends in its time, and the next one
        // starts with the token that was taken.
        if !isTokenFresh { token = goodToken }
        turn.actions.append(.refreshed(error.code))
      }
      return Answered(line: nil)
    }
    guard number == helloMessage else { return nil }
    helloMessage = nil
    if error.retryable {
      if let pause = error.retryAfter {
        let first = min(max(Int64(pause), 0), 3_600_000)
        askedDelay = first...(first + first)
      }
      return Answered(line: lose(&turn, hangsUp: true))
    }
    if let claim {
      // Either the server no longer knows this client, and will give it a new id. Or it rejects the
      // token: then it hangs up, and the client keeps its identity.
      doubted = claim
      self.claim = nil
      sayHello(&turn)
      return Answered(line: nil)
    }
    let signal = release(&turn, hangsUp: true)
    become(.stopped(.refused(error.code)), &turn)
    return Answered(line: signal)
  }
}
