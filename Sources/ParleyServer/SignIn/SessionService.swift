import CryptoOpenSSL
import Gateway
import GatewayPorts

/// Sessions for the services that issue tokens: begun at a sign-in, renewed for a refresh token.
///
/// Used on the loop's thread.
final class SessionService {
  /// Reasons why there is no session.
  enum Failure: Error {
    /// The session has ended: it expired, was ended, or its token was used twice.
    case ended
    /// The store does not answer.
    case unavailable
  }

  typealias Outcome = Result<Session, Failure>

  /// The most by which a token's time may be ahead.
  private static let aheadMilliseconds: Int64 = 1_000

  private let names: any NameSource
  private let clock: any Clock
  private let revocations: any Revocations
  private let log: any LogSink
  private let rule: SessionRule
  private unowned let gateway: Gateway

  init(
    names: any NameSource, clock: any Clock, revocations: any Revocations, log: any LogSink,
    rule: SessionRule, gateway: Gateway
  ) {
    self.names = names
    self.clock = clock
    self.revocations = revocations
    self.log = log
    self.rule = rule
    self.gateway = gateway
  }

  /// The time of tokens that are made now.
  ///
  /// - Parameter since: The time from which the user counts, which another machine's clock may have set a little
  ///   ahead of this one.
  func time(for user: String, since: Timestamp? = nil) -> Timestamp {
    let now = max(clock.now, min(since ?? 0, clock.now + Self.aheadMilliseconds))
    // A user whose tokens were just revoked may sign in again within the same millisecond.
    return revocations.isRevoked(Identity(user: user, issuedAt: now, grants: [])) ? now + 1 : now
  }

  /// Begins a session.
  ///
  /// - Parameters:
  ///   - time: As by ``time(for:since:)``.
  ///   - endsAt: When it ends, however it is used.
  ///   - isAlone: Whether the user's other sessions end.
  func begin(
    for user: String, at time: Timestamp, endsAt: Timestamp, on device: Session.Device,
    isAlone: Bool = false, then goOn: @escaping (Outcome) -> Void
  ) {
    let session = Session(
      id: Session.idPrefix + names.next(), user: user, begunAt: time, endsAt: endsAt,
      device: device, rule)
    guard !isAlone else {
      return gateway.perform(.end(user: user, .all)) { [self] _ in begin(session, then: goOn) }
    }
    begin(session, then: goOn)
  }

  private func begin(_ session: Session, then goOn: @escaping (Outcome) -> Void) {
    gateway.perform(.begin(session, countMax: Session.countMax)) { [log] outcome in
      guard case .success(.begun(let ended)) = outcome else { return goOn(.failure(.unavailable)) }
      if !ended.isEmpty {
        log.write(
          .notice, "sessions ended",
          [("sessions", "\(ended.count)"), ("reason", "more than \(Session.countMax) of one user")])
      }
      goOn(.success(session))
    }
  }

  /// Renews the session of a refresh token.
  ///
  /// - Parameters:
  ///   - token: The token, which has been checked.
  ///   - time: As by ``time(for:since:)``.
  func renew(
    _ token: RefreshToken, at time: Timestamp, then goOn: @escaping (Outcome) -> Void
  ) {
    let identity = token.identity
    guard let id = identity.tokenID else { return goOn(.failure(.ended)) }
    gateway.perform(
      .renew(id: id, user: identity.user, turn: token.turn, now: time, rule)
    ) { outcome in
      switch outcome {
      case .success(.renewed(let session, .renewed)), .success(.renewed(let session, .repeated)):
        goOn(.success(session))
      case .success: goOn(.failure(.ended))
      case .failure: goOn(.failure(.unavailable))
      }
    }
  }

  /// Removes a session that a crash has left although its tokens were revoked: it must not become valid again when the
  /// revocation expires.
  func forget(_ token: RefreshToken) {
    guard let id = token.identity.tokenID else { return }
    gateway.perform(.end(user: token.identity.user, .one(id))) { _ in }
  }

  /// Ends the session of a refresh token.
  func end(_ token: RefreshToken, then goOn: @escaping (Bool) -> Void) {
    guard let id = token.identity.tokenID else { return goOn(true) }
    gateway.endSession(id, of: token.identity.user, then: goOn)
  }
}
