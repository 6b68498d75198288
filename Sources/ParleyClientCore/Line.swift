import SocketMessages

/// A client's connection: opens it, sends the hello, keeps it alive, and reconnects after a loss.
///
///                 token                                      hello taken
///     authorising ─────▶ connecting ──opened──▶ greeting ──────────────▶ online
///       ▲                 ▲  │                    │                        │
///       │      no tokens  │  └────── loss ────────┤◀────── loss ───────────┘
///       └── waiting ──────┘◀───── back-off ───────┘
///
/// stopped: the app has not started it, or the server forbids reconnecting
///
/// It does not know notes and rooms.
struct Line: Sendable {
  /// A change of the connection that concerns notes and rooms.
  enum Signal {
    /// Messages can be sent.
    case online
    /// Messages can no longer be sent.
    case lost
  }

  /// The outcome of an answer to a message that the connection itself has sent.
  struct AnswerOutcome {
    let line: Signal?
  }

  private(set) var settings: ClientSettings
  private(set) var state = LineState.stopped(.asked)
  /// The client's identity.
  private(set) var claim: ClientClaim?
  /// The person of the client, as the server has identified it.
  private(set) var person: String?
  /// The server's limits.
  private(set) var limits = Limits()
  /// Whether the server knows formatting; `true` before the first welcome.
  private(set) var hasFormats = true
  /// The claim that the server has just rejected.
  private var rejectedClaim: ClientClaim?
  private var chance: SeededRandom

  private var token: String?
  /// The token of the last hello or refresh.
  private var sentToken: String?
  /// The token that the server accepted last.
  private var acceptedToken: String?
  private var isTokenAsked = false
  /// Whether a token has arrived that no hello or refresh has contained yet.
  private var isTokenFresh = false
  private var helloMessage: Int?
  private var refreshMessage: Int?
  /// The time at which a rate-limited refresh is retried.
  private var refreshAt: Int64?

  private var attempts = 0
  /// The range of the next delay, as requested by the server.
  private var askedDelay: ClosedRange<Int64>?
  /// The time at which the present state ends: the timeout of an opening or a silence, or the end
  /// of a delay.
  private var stateEnds: Int64?
  /// Whether a ping was sent since the last message.
  private var isPinged = false
  private var welcomedAt: Int64 = 0

  init(settings: ClientSettings, claim: ClientClaim?, person: String?, seed: UInt64) {
    self.settings = settings
    self.claim = claim
    self.person = person
    chance = SeededRandom(seed: seed)
  }

  var isOnline: Bool { state == .online }

  /// The next time at which the connection must be woken.
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
    // After the next start, the person may be another one. The present token and a requested one
    // belong to the former person.
    isTokenAsked = false
    isTokenFresh = false
    become(.stopped(.asked), &turn)
    return signal
  }

  /// The client acts for another person from now on, without an identity.
  mutating func changePerson(_ turn: inout Turn) {
    guard state == .stopped(.otherPerson) else { return }
    claim = nil
    person = nil
    start(&turn)
  }

  /// The network is available again: reconnect now, and check whether an open connection is still
  /// alive.
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
      // Without a new token, an open connection continues until the server closes it.
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

  /// The socket was closed or could not be opened.
  mutating func closed(_ code: UInt16, _ turn: inout Turn) -> Signal? {
    switch state {
    case .stopped, .authorising, .waiting: return nil
    case .connecting, .greeting, .online: break
    }
    guard code >= 4500, code <= 4999 else { return lose(&turn, hangsUp: false) }
    if code == CloseReason.tokenExpired.rawValue, settings.usesTokens {
      // Reconnect with another token at once, unless this one expired so soon that it could loop.
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

  /// Abandons the connection, and schedules the next.
  private mutating func lose(_ turn: inout Turn, hangsUp: Bool) -> Signal? {
    let signal = release(&turn, hangsUp: hangsUp)
    let usual = min(timing.longestDelay, timing.firstDelay << Int64(min(attempts, 20)))
    attempts = min(attempts + 1, 20)
    // Random, or all clients of a restarted server would reconnect at the same time.
    let delay = chance.draw(from: askedDelay ?? usual / 2...usual)
    askedDelay = nil
    let until = turn.after(delay)
    stateEnds = until
    become(.waiting(until: until), &turn)
    return signal
  }

  /// Releases the connection, and no longer waits for answers on it.
  private mutating func release(_ turn: inout Turn, hangsUp: Bool) -> Signal? {
    var signal: Signal?
    switch state {
    case .stopped, .authorising, .waiting: break
    case .connecting, .greeting: if hangsUp { turn.actions.append(.disconnect) }
    case .online:
      if hangsUp { turn.actions.append(.disconnect) }
      signal = .lost
    }
    if claim == nil { claim = rejectedClaim }
    rejectedClaim = nil
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

  /// A message was received: the connection is alive.
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
      acceptedToken = sentToken
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
      // The person has changed; the unconfirmed edits belong to the former person. The client
      // retains its identity.
      let signal = release(&turn, hangsUp: true)
      become(.stopped(.otherPerson), &turn)
      return signal
    }
    helloMessage = nil
    rejectedClaim = nil
    attempts = 0
    limits = welcome.limits
    hasFormats = welcome.capabilities.contains { $0.isSame(as: "rich") }
    welcomedAt = turn.now
    let new = ClientClaim(id: welcome.clientID, resumeToken: welcome.resumeToken)
    let isNews =
      claim.map { !$0.id.isSame(as: new.id) || !$0.resumeToken.isSame(as: new.resumeToken) } ?? true
    claim = new
    let isOther = (person == nil) != (welcome.personID == nil)
    person = welcome.personID
    acceptedToken = sentToken
    if isNews || isOther { turn.actions.append(.claim(new)) }
    become(.online, &turn)
    turn.actions.append(.welcome(welcome))
    isPinged = false
    stateEnds = turn.after(timing.quietBeforePing)
    // A token that arrived between the hello and its answer.
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

  /// Handles an unreadable answer; returns `nil` if it does not answer the hello.
  ///
  /// The server has already welcomed the client, so a second attempt would fail in the same way.
  mutating func misread(answering number: Int, _ turn: inout Turn) -> AnswerOutcome? {
    guard number == helloMessage else { return nil }
    let signal = release(&turn, hangsUp: true)
    become(.stopped(.refused(.badMessage)), &turn)
    return AnswerOutcome(line: signal)
  }

  /// Handles an error that answers a message; returns `nil` if the connection has not sent the
  /// message.
  mutating func failed(
    _ error: ServerMessage.Failure, answering number: Int, _ turn: inout Turn
  ) -> AnswerOutcome? {
    if number == refreshMessage {
      refreshMessage = nil
      if error.retryable {
        refreshAt = turn.after(error.retryAfter, or: timing.retryAfter)
      } else {
        // A rejected token changes nothing: the connection continues until its token expires, and
        // the next connection begins with the accepted token.
        if !isTokenFresh { token = acceptedToken }
        turn.actions.append(.refreshed(error.code))
      }
      return AnswerOutcome(line: nil)
    }
    guard number == helloMessage else { return nil }
    helloMessage = nil
    if error.retryable {
      if let pause = error.retryAfter {
        let first = min(max(Int64(pause), 0), 3_600_000)
        askedDelay = first...(first + first)
      }
      return AnswerOutcome(line: lose(&turn, hangsUp: true))
    }
    if let claim {
      // Either the server no longer knows this client and will assign a new id, or it rejects the
      // token and closes the connection; in the second case the client retains its identity.
      rejectedClaim = claim
      self.claim = nil
      sayHello(&turn)
      return AnswerOutcome(line: nil)
    }
    let signal = release(&turn, hangsUp: true)
    become(.stopped(.refused(error.code)), &turn)
    return AnswerOutcome(line: signal)
  }
}
