import ParleyJSON

/// The bounds of the audit log. Beyond them, the oldest records are removed.
public struct AuditRule: Sendable, Hashable {
  /// Milliseconds for which records are stored.
  public var milliseconds: Int64
  /// Milliseconds for which records of refused actions are stored, at most.
  public var refusedMilliseconds: Int64
  /// Approximate maximum number of records.
  public var countMax: Int

  /// Creates the bounds; by default a year, a month and a million records.
  public init(
    milliseconds: Int64 = 365 * 86_400_000, refusedMilliseconds: Int64 = 30 * 86_400_000,
    countMax: Int = 1_000_000
  ) {
    self.milliseconds = milliseconds
    self.refusedMilliseconds = min(refusedMilliseconds, milliseconds)
    self.countMax = countMax
  }

  /// Whether a record is past its time.
  public func isExpired(_ record: AuditRecord, now: Timestamp) -> Bool {
    let age = record.outcome == .refused ? refusedMilliseconds : milliseconds
    return record.time <= now - age
  }
}

/// A choice among the records of the audit log. All given conditions must hold.
public struct AuditFilter: Sendable, Hashable {
  /// The exact name of the actor.
  public var actor: String?
  /// The name of the action, or its part before the dot, such as `link`.
  public var action: String?
  /// The exact target.
  public var target: String?
  /// The result.
  public var outcome: AuditOutcome?
  /// The earliest time.
  public var since: Timestamp?
  /// The time after the latest one.
  public var until: Timestamp?

  /// Creates a filter that includes all records.
  public init() {}

  /// Whether the filter includes a record.
  public func includes(_ record: AuditRecord) -> Bool {
    if let actor, !record.actor.isExactly(actor) { return false }
    if let target, !record.target.isExactly(target) { return false }
    if let outcome, record.outcome != outcome { return false }
    if let since, record.time < since { return false }
    if let until, record.time >= until { return false }
    guard let action else { return true }
    return record.action.name.isExactly(action)
      || record.action.name.utf8.starts(with: (action + ".").utf8)
  }
}

/// A request about the audit log.
public enum AuditRequest: Sendable {
  /// Adds a record.
  case add(AuditRecord)
  /// Reads the records before a number that a filter includes, the newest first. Examines at most
  /// `limit` records.
  case page(before: Int?, limit: Int, AuditFilter)
  /// Removes records beyond the bounds, at most `limit` for each bound.
  case trim(AuditRule, now: Timestamp, limit: Int)

  /// The request's traits.
  var traits: StoreTraits {
    switch self {
    case .add: .writing()
    case .page: .step
    case .trim: .writing()
    }
  }
}

/// The reply to a request about the audit log.
public enum AuditReply: Sendable, Equatable {
  /// The record was added.
  case added
  /// Records, the newest first. `next` is the number before which the next page starts; `nil` at
  /// the end.
  case page([AuditRecord], next: Int?)
  /// Records were removed. More of them may remain.
  case trimmed(hasMore: Bool)
}

extension StoreReply {
  /// The result for the audit log of a successful reply; `nil` for a reply that says that nothing
  /// was to be done.
  public var auditOutcome: AuditOutcome? {
    switch self {
    case .failed, .undecided, .lostRace: nil
    case .links(.tooMany), .links(.names(.taken)), .links(.names(.resting)),
      .links(.names(.tooMany)), .folders(.unfit):
      .refused
    case .links(.ended(let links)): links.isEmpty ? nil : .done
    case .links(.names(.withdrawn(let name))): name == nil ? nil : .done
    case .logins(.ended(let sessions)): sessions.isEmpty ? nil : .done
    case .folders(.moved(let notes, _, _)): notes.isEmpty ? nil : .done
    default: .done
    }
  }
}
