import ParleyGatewayPorts
import SocketMessages
import ParleyWebSocketFrames

/// A part of the gateway, with access to the switchboard that all parts share.
///
/// The members are called on concrete types, never through the protocol, so that calls are
/// dispatched statically.
protocol Part: AnyObject {
  var board: Switchboard { get }
}

extension Part {
  // Yielding in place copies and retains nothing.
  var settings: GatewaySettings { _read { yield board.settings } }
  var allowances: Allowances { _read { yield board.allowances } }
  var dependencies: Switchboard.Ports { _read { yield board.dependencies } }

  var connections: [ConnectionID: Connection] { _read { yield board.connections } }

  var connectionsByClient: ExactDictionary<ConnectionID> {
    _read { yield board.connectionsByClient }
    _modify { yield &board.connectionsByClient }
  }

  var metrics: GatewayMetrics {
    _read { yield board.metrics }
    _modify { yield &board.metrics }
  }

  var backlog: StoreBacklog {
    _read { yield board.backlog }
    _modify { yield &board.backlog }
  }

  var storeFailure: StoreError? {
    get { board.storeFailure }
    set { board.storeFailure = newValue }
  }

  /// Records a failure of the store. Failures that concern one document or request are ignored.
  func failed(_ error: StoreError) {
    switch error {
    case .unavailable, .unknownOutcome: storeFailure = error
    case .unknownDocument, .exists, .notNext, .compacted, .fenced, .damaged, .refused,
      .answeredElsewhere, .outOfReach, .cancelled:
      break
    }
  }

  /// Logs that entries could not be read, if the store itself has failed.
  func logUnread(_ error: StoreError) {
    guard error.isOfTheStore else { return }
    dependencies.log.write(.error, "changes not readable", [("error", error.logName)])
  }

  func send(_ frame: Frame, to connection: Connection) { board.send(frame, to: connection) }

  /// Encodes a message of `parley.v1`.
  func frame(_ message: ServerMessage, ref: String) -> Frame {
    Frame { message.encode(messageID: ref, into: &$0) }
  }

  func send(_ message: ServerMessage, ref: String, to connection: Connection) {
    board.send(frame(message, ref: ref), to: connection)
  }

  func close(_ connection: Connection, _ why: CloseReason, _ reason: String) {
    board.close(connection, why, reason)
  }

  func sendError(
    _ code: ErrorCode, _ message: String, ref: String, retryAfter: Int? = nil,
    to connection: Connection
  ) {
    connection.dialect.sendError(code, message, ref: ref, retryAfter: retryAfter, to: connection)
  }

  func respond(_ request: RequestID, _ response: Response) { board.respond(request, response) }

  /// Answers a request, if there is one.
  func respond(_ request: RequestID?, _ response: @autoclosure () -> Response) {
    if let request { board.respond(request, response()) }
  }

  /// Returns the result of work for a request; `nil` if it throws a refusal, which is sent.
  @discardableResult
  func answering<Value>(_ request: RequestID, _ work: () throws(Response) -> Value) -> Value? {
    do throws(Response) { return try work() } catch {
      respond(request, error)
      return nil
    }
  }

  /// Refuses a request after a failure of the store.
  ///
  /// - Parameter event: The failed operation, for the log.
  func refuse(_ request: RequestID, _ error: StoreError, _ event: String) {
    // A request that was cancelled by its client is not a failure.
    if error != .cancelled { dependencies.log.write(.error, event, [("error", error.logName)]) }
    respond(request, .storeFailed)
  }

  /// Refuses a request about a note after a failure of the store, or because the caller may not
  /// access the note.
  func refuse(_ request: RequestID, _ error: StoreError, ofNote event: String) {
    switch error {
    case .unknownDocument:
      respond(request, .problem(404, .unknownDocument, "no note has this id"))
    case .outOfReach: respond(request, .notGranted)
    default: refuse(request, error, event)
    }
  }

  /// Returns the answer to a request about a document that cannot be opened. Callers with rights to
  /// folders alone must not learn which names are unused.
  func refusal(_ code: ErrorCode, _ message: String, under right: StoreRight?) -> Response {
    guard code == .unknownDocument else { return .problem(503, code, message) }
    return right?.condition == nil ? .problem(404, code, message) : .notGranted
  }

  func act(_ action: GatewayAction) { board.act(action) }
  func pushID() -> String { board.pushID() }

  /// Returns the matching connections, oldest first, so that each run has the same order.
  func connectionsInOrder(_ isMeant: (Connection) -> Bool) -> [Connection] {
    connections.values.filter(isMeant).sorted { $0.id < $1.id }
  }

  func log(_ level: LogLevel, _ message: String, _ reason: String) {
    dependencies.log.write(level, message, [("reason", reason)])
  }

  /// Sends a request to the store under a right.
  ///
  /// - Parameter awaited: The work that continues with the reply.
  /// - Returns: The ticket that identifies the reply.
  @discardableResult
  func store(
    _ request: StoreRequest, under right: StoreRight, then awaited: Awaited
  ) -> StoreTicket {
    board.store(StoreTask(request, under: right, then: awaited))
  }
}
