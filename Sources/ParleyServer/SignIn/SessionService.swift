import ParleyCryptoOpenSSL
import Gateway
import ParleyGatewayPorts
import ParleyJSON

/// Begins, renews and ends sessions, for the services that issue tokens.
///
/// Used only on the loop's thread.
final class SessionService {
  /// The reason why there is no session.
  enum Failure: Error {
    /// The session has expired or was ended, or its refresh token was used twice.
    case ended
    /// The store does not respond.
    case unavailable
  }

  typealias Outcome = Result<Session, Failure>

  /// Maximum milliseconds by which the issue time of a token may be ahead of the clock.
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

  /// Returns the issue time for new tokens of a user.
  ///
  /// - Parameter since: The time before which the user's tokens are invalid. If another machine set
  ///   it, it may be slightly ahead of this machine's clock.
  func time(for user: String, since: Timestamp? = nil) -> Timestamp {
    let now = max(clock.now, min(since ?? 0, clock.now + Self.aheadMilliseconds))
    // A user may sign in again in the same millisecond in which their tokens were revoked.
    return revocations.isRevoked(Identity(user: user, issuedAt: now, grants: [])) ? now + 1 : now
  }

  /// Begins a session.
  ///
  /// - Parameters:
  ///   - time: The issue time, from ``time(for:since:)``.
  ///   - endsAt: The time at which the session ends even if it is used.
  ///   - endsOthers: Whether all other sessions of the user end.
  ///   - address: The address of the user, for the audit log.
  func begin(
    for user: String, at time: Timestamp, endsAt: Timestamp, on device: Session.Device,
    endsOthers: Bool = false, from address: String, then proceed: @escaping (Outcome) -> Void
  ) {
    let session = Session(
      id: Session.idPrefix + names.next(), user: user, begunAt: time, endsAt: endsAt,
      device: device, rule)
    guard !endsOthers else {
      return gateway.perform(.end(user: user, .all)) { [self] _ in
        begin(session, from: address, then: proceed)
      }
    }
    begin(session, from: address, then: proceed)
  }

  private func begin(
    _ session: Session, from address: String, then proceed: @escaping (Outcome) -> Void
  ) {
    let record = AuditRecord(
      time: clock.now, actor: session.user, action: .signIn, target: session.id, address: address,
      detail: [session.device.browser, session.device.system].filter { !$0.isEmpty }
        .joined(separator: ", "))
    gateway.perform(.begin(session, countMax: Session.countMax), record: record) {
      [log] outcome in
      guard case .success(.begun(let ended)) = outcome else {
        return proceed(.failure(.unavailable))
      }
      if !ended.isEmpty {
        log.write(
          .notice, "sessions ended",
          [("sessions", "\(ended.count)"), ("reason", "more than \(Session.countMax) of one user")])
      }
      proceed(.success(session))
    }
  }

  /// Renews the session of a refresh token.
  ///
  /// - Parameters:
  ///   - token: The refresh token, already validated.
  ///   - time: The issue time, from ``time(for:since:)``.
  func renew(
    _ token: RefreshToken, at time: Timestamp, then proceed: @escaping (Outcome) -> Void
  ) {
    let identity = token.identity
    guard let id = identity.tokenID else { return proceed(.failure(.ended)) }
    gateway.perform(
      .renew(id: id, user: identity.user, turn: token.turn, now: time, rule)
    ) { outcome in
      switch outcome {
      case .success(.renewed(let session, .renewed)), .success(.renewed(let session, .repeated)):
        proceed(.success(session))
      case .success: proceed(.failure(.ended))
      case .failure: proceed(.failure(.unavailable))
      }
    }
  }

  /// Ends a session whose tokens were revoked, but which a crash has left in the store: it must not
  /// become valid again when the revocation expires.
  func forget(_ token: RefreshToken) {
    guard let id = token.identity.tokenID else { return }
    gateway.perform(.end(user: token.identity.user, .one(id))) { _ in }
  }

  /// Ends the session of a refresh token, whose user signs out.
  func end(
    _ token: RefreshToken, from address: String, then proceed: @escaping (Bool) -> Void
  ) {
    guard let id = token.identity.tokenID else { return proceed(true) }
    let user = token.identity.user
    let record = AuditRecord(
      time: clock.now, actor: user, action: .endSessions, target: user, address: address, detail: id
    )
    gateway.endSession(id, of: user, record: record, then: proceed)
  }

  // MARK: The audit log

  /// Adds records of changed users to the audit log, and notices of notes that were shared with
  /// them. Changes of the given user were made by that user, and all others in the file.
  func record(_ changes: [UserChange], by user: String = "", from address: String = "") {
    for change in changes {
      let isOwn = change.target.isExactly(user)
      gateway.audit(
        isOwn
          ? change.record(by: user, from: address, at: clock.now) : change.record(at: clock.now))
      for note in change.shared { gateway.noteShared(note, with: change.target) }
      if change.action == .removeUser { gateway.removeNotices(of: change.target) }
    }
  }

  /// Adds a record of a refused attempt to sign in or to join to the audit log.
  ///
  /// - Parameter user: The id of an existing user; empty for an unknown name, which may be a
  ///   password in the wrong field.
  func recordRefusal(
    _ action: AuditAction, of user: String, from visitor: LoginThread.Visitor, _ detail: String
  ) {
    let record = AuditRecord(
      time: clock.now, actor: user, action: action, address: visitor.address, detail: detail)
    gateway.auditRefusal(record, of: visitor.limitedClient)
  }
}
