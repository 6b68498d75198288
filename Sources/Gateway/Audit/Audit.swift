import ParleyGatewayPorts
import ParleyJSON

/// The audit log: who changed rights or accounts, when, and from where.
///
///     GET /api/audit?limit=&before=&actor=&action=&target=&outcome=&since=&until=
///
/// Actions in the store are recorded in their commit (``StoreRequest/audited(_:_:)``). This part
/// records other actions, shows the log to operators, and removes old records.
final class Audit: Part {
  /// Default records of a page, and the maximum.
  private static let pageDefault = 100
  private static let pageMax = 1_000
  /// Records that one step of a request examines, and the maximum steps of one request.
  private static let stepMax = 1_000
  private static let stepsMax = 20
  /// Maximum records removed by one request to the store, for each bound.
  private static let trimMax = 500
  /// Milliseconds between removals.
  private static let trimPause: Int64 = 3_600_000

  let board: Switchboard
  private var callbacks = Callbacks<StoreOutcome<AuditReply>>()
  private var refusals = RefusalCounter()
  private var trims = DueTimes(pause: Audit.trimPause)

  init(_ board: Switchboard) { self.board = board }

  // MARK: Recording

  /// Adds a record of an action that is not in the store. A failure is logged: a store that does
  /// not respond must not stop an operator from revoking a token.
  func add(_ record: AuditRecord) {
    ask(.add(record), under: .token) { [self] outcome in
      guard case .failure(let error) = outcome else { return }
      log(.error, "action not recorded in the audit log", error.logName)
    }
  }

  /// Adds a record of a refused sign-in, up to a number for each address.
  func addRefusal(_ record: AuditRecord, of client: LimitedClient?) {
    var record = record
    record.outcome = .refused
    switch refusals.count(client, uptime: dependencies.clock.uptime) {
    case .recorded: add(record)
    case .recordedLast:
      record.detail += "; further refusals are not recorded for a while"
      add(record)
    case .dropped: break
    }
  }

  /// Passes the store's reply to its callback.
  func finish(
    _ number: Callbacks<StoreOutcome<AuditReply>>.Number, _ outcome: StoreOutcome<AuditReply>
  ) {
    callbacks.take(number)(outcome)
  }

  private func ask(
    _ request: AuditRequest, under right: StoreRight,
    then proceed: @escaping (StoreOutcome<AuditReply>) -> Void
  ) {
    store(.audit(request), under: right, then: .audit(callbacks.add(proceed)))
  }

  // MARK: Reading

  /// Responds with records of the log, the newest first.
  func list(_ call: Call) throws(Response) {
    let limit = try call.query.limit(Self.pageDefault, max: Self.pageMax)
    guard case let before?? = call.query.number("before").optional.map({ $0 ?? .max }) else {
      throw .problem(400, .badMessage, "expected before to be the number of a record listed")
    }
    read(
      Reading(
        request: call.request, filter: try filter(in: call.query), limit: limit, before: before))
  }

  /// A request for a page.
  private struct Reading {
    let request: RequestID
    let filter: AuditFilter
    let limit: Int
    /// The number before which the next step reads.
    var before: Int
    var steps = 0
    var found: [AuditRecord] = []
  }

  private func filter(in query: QueryFields) throws(Response) -> AuditFilter {
    var filter = AuditFilter()
    (filter.actor, filter.action) = try (query.text("actor"), query.text("action"))
    filter.target = try query.text("target")
    if let word = try query.text("outcome") {
      filter.outcome = AuditOutcome.allCases.first { $0.word == word }
      guard filter.outcome != nil else {
        throw .problem(400, .badMessage, "expected outcome to be done or refused")
      }
    }
    guard let since = query.number("since").optional, let until = query.number("until").optional
    else {
      throw .problem(
        400, .badMessage, "expected since and until as milliseconds since 1970, as in records")
    }
    filter.since = since.map { Timestamp($0) }
    filter.until = until.map { Timestamp($0) }
    return filter
  }

  /// Reads records in steps, until the page is full, the log has ended, or enough was examined.
  private func read(_ reading: Reading) {
    ask(
      .page(before: reading.before, limit: Self.stepMax, reading.filter), under: .eachItem
    ) { [self] outcome in
      switch outcome {
      case .success(.page(let records, let next)):
        var reading = reading
        reading.found += records
        reading.steps += 1
        guard let next, reading.found.count <= reading.limit, reading.steps < Self.stepsMax else {
          return answer(reading, next: next)
        }
        reading.before = next
        read(reading)
      case .success: refuse(reading.request, .unavailable("another reply"), "audit log not read")
      case .failure(let error): refuse(reading.request, error, "audit log not read")
      }
    }
  }

  private func answer(_ reading: Reading, next: Int?) {
    let shown = reading.found.prefix(reading.limit)
    let next = reading.found.count > reading.limit ? shown.last?.number : next
    let body = JSONWriter.object { object, body in
      object.key("records", &body)
      JSONWriter.array(shown, &body) { $0.write(into: &$1) }
      object.field("next", next, &body)
    }
    respond(reading.request, .json(200, body))
  }

  // MARK: Bounds

  /// Removes old records, when a removal is due.
  func ticked() {
    let (now, uptime) = (dependencies.clock.now, dependencies.clock.uptime)
    guard trims.isDue(now: now, uptime: uptime), !board.isDraining else { return }
    trim(now: now)
  }

  private func trim(now: Timestamp) {
    ask(.trim(settings.audit, now: now, limit: Self.trimMax), under: .housekeeping) {
      [self] outcome in
      switch outcome {
      case .success(.trimmed(hasMore: true)) where !board.isDraining: trim(now: now)
      case .success: break
      // The records are still old at the next removal.
      case .failure(let error): log(.warning, "old audit records not removed", error.logName)
      }
    }
  }
}
