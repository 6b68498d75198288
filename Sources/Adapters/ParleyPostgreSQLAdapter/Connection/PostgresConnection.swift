import CParleyPostgres
import Glibc
import ParleyStoreRecords

/// A statement with its parameter values.
struct PostgresCommand {
  let sql: String
  let parameters: [PostgresParameter]

  init(_ sql: String, _ values: [any StoredValue] = []) {
    self.sql = sql
    parameters = values.map { PostgresParameter($0.form) }
  }
}

/// A connection to PostgreSQL, closed when its owner is destroyed. Used by one thread at a time.
///
/// Statements are sent in pipelines: any number in one write, with one wait for all replies. A
/// statement is never cancelled, since a cancelled commit could become visible before any standby
/// has received it. If a reply takes too long, the connection is closed instead.
final class PostgresConnection {
  private let handle: OpaquePointer
  /// The names of prepared statements, by their text.
  private var prepared: [String: String] = [:]
  /// Whether the connection is closed or has failed.
  private(set) var isBroken = false
  /// Whether a reply took too long: the sent statements may still be running on the server.
  private(set) var isSilent = false

  /// The maximum milliseconds until all replies of a pipeline are received.
  private let answerMilliseconds: Int64

  /// Connects, and enters pipeline mode.
  init(
    _ address: PostgresAddress, application: String, answerMilliseconds: Int64
  ) throws(PostgresFailure) {
    self.answerMilliseconds = answerMilliseconds
    do throws(NotConnected) {
      handle = try address.connect(as: application)
    } catch {
      throw .unreachable(error.reason)
    }
    guard PQenterPipelineMode(handle) == 1 else { throw .unreachable("libpq has no pipelines") }
  }

  deinit { PQfinish(handle) }

  /// Connects in order to open a store.
  static func opened(
    _ address: PostgresAddress, application: String, answerMilliseconds: Int64
  ) throws(PostgresOpenError) -> PostgresConnection {
    do throws(PostgresFailure) {
      return try PostgresConnection(
        address, application: application, answerMilliseconds: answerMilliseconds)
    } catch {
      throw PostgresSchema.openError(error, address)
    }
  }

  /// The server's version, such as 150018.
  var serverVersion: Int { Int(PQserverVersion(handle)) }

  /// The number of the server's process, as reported on connecting.
  var processID: Int { Int(PQbackendPID(handle)) }

  /// Whether a transaction is open, or has failed and is not ended yet.
  var isInTransaction: Bool { PQtransactionStatus(handle) != PQTRANS_IDLE }

  /// Runs statements in one pipeline and returns their results.
  ///
  /// Outside of `BEGIN`, they form one transaction, which is committed at the end of the pipeline.
  ///
  /// - Throws: `refused` with the code of the first failed statement, in which case no statement
  ///   has taken effect; or `lost`, in which case the outcome is unknown.
  func run(_ commands: [PostgresCommand]) throws(PostgresFailure) -> [PostgresResult] {
    guard !isBroken else { throw .lost("it was closed") }
    // The statements that are first used in this pipeline.
    var preparing: [(place: Int, sql: String, name: String)] = []
    for (place, command) in commands.enumerated() {
      let name = prepared[command.sql] ?? "s\(prepared.count + preparing.count)"
      if prepared[command.sql] == nil, !preparing.contains(where: { $0.sql == command.sql }) {
        preparing.append((place, command.sql, name))
        let types = command.parameters.map { Oid($0.type) }
        try sent(PQsendPrepare(handle, name, command.sql, Int32(types.count), types))
      }
      try send(
        command,
        as: prepared[command.sql] ?? preparing.first { $0.sql == command.sql }?.name ?? name)
    }
    try sent(PQpipelineSync(handle))
    let deadline = monotonicMilliseconds() + answerMilliseconds
    var results: [PostgresResult] = []
    results.reserveCapacity(commands.count)
    var failure: PostgresFailure?
    for (place, _) in commands.enumerated() {
      if let new = preparing.first(where: { $0.place == place }) {
        if try answer(until: deadline, &failure) != nil { prepared[new.sql] = new.name }
      }
      if let result = try answer(until: deadline, &failure) { results.append(result) }
    }
    // Read the end of the pipeline.
    guard let end = try next(until: deadline) else { throw lost("it answered out of order") }
    PQclear(end)
    if let failure {
      if case .refused(let state) = failure, PostgresFailure.isEnd(state) {
        throw lost("PostgreSQL ended it, code \(state)")
      }
      throw failure
    }
    return results
  }

  /// Closes the connection. Statements that are running on the server are not cancelled.
  func close() { isBroken = true }

  // MARK: Sending

  private func send(_ command: PostgresCommand, as name: String) throws(PostgresFailure) {
    let parameters = command.parameters
    let count = Int32(parameters.count)
    let lengths = parameters.map { Int32($0.bytes?.count ?? 0) }
    let formats = [Int32](repeating: 1, count: parameters.count)
    let code = Self.withPointers(parameters.map(\.bytes)) { values in
      PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1)
    }
    try sent(code)
  }

  private func sent(_ code: Int32) throws(PostgresFailure) {
    guard code == 1 else { throw lost("it accepts no more statements") }
  }

  // MARK: Waiting

  /// Returns the result of one statement; `nil` if it or an earlier one has failed.
  private func answer(
    until deadline: Int64, _ failure: inout PostgresFailure?
  ) throws(PostgresFailure) -> PostgresResult? {
    var found: PostgresResult?
    while let result = try next(until: deadline) {
      switch PQresultStatus(result) {
      case PGRES_TUPLES_OK, PGRES_COMMAND_OK: found = PostgresResult(result)
      default:
        // Report only the code: the message may contain user data.
        let state = PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) }
        if failure == nil { failure = .refused(state: state ?? "none") }
        PQclear(result)
        if PQstatus(handle) == CONNECTION_BAD {
          throw lost(state.map { "PostgreSQL ended it, code \($0)" } ?? "it broke")
        }
      }
    }
    return found
  }

  private func next(until deadline: Int64) throws(PostgresFailure) -> OpaquePointer? {
    while true {
      let left = PQflush(handle)
      guard left >= 0 else { throw lost("it broke while sending") }
      if left == 0, PQisBusy(handle) == 0 { return PQgetResult(handle) }
      var waiting = pollfd(
        fd: PQsocket(handle), events: Int16(POLLIN | (left == 1 ? POLLOUT : 0)), revents: 0)
      let rest = deadline - monotonicMilliseconds()
      guard rest > 0 else {
        isSilent = true
        throw lost("it did not answer for \(answerMilliseconds) ms")
      }
      if poll(&waiting, 1, Int32(clamping: rest)) > 0, PQconsumeInput(handle) == 0 {
        throw lost("it broke while waiting for an answer")
      }
    }
  }

  /// Waits until the statements sent before a timeout have ended with any outcome, or the
  /// connection is broken. Returns whether that is the case.
  func isOver(within milliseconds: Int64) -> Bool {
    let deadline = monotonicMilliseconds() + milliseconds
    // libpq returns one null between the results of two statements; two in a row mark the end.
    var isBetween = false
    while true {
      guard PQflush(handle) >= 0, PQconsumeInput(handle) == 1 else { return true }
      while PQisBusy(handle) == 0 {
        guard let result = PQgetResult(handle) else {
          if isBetween { return true }
          isBetween = true
          continue
        }
        isBetween = false
        let isEnd = PQresultStatus(result) == PGRES_PIPELINE_SYNC
        PQclear(result)
        if isEnd || PQstatus(handle) == CONNECTION_BAD { return true }
      }
      var waiting = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
      let rest = deadline - monotonicMilliseconds()
      guard rest > 0, poll(&waiting, 1, Int32(clamping: rest)) > 0 else { return false }
    }
  }

  private func lost(_ reason: String) -> PostgresFailure {
    isBroken = true
    return .lost(reason)
  }

  // MARK: C pointers

  private static func withPointers<Result>(
    _ values: [[UInt8]?], _ body: ([UnsafePointer<CChar>?]) -> Result
  ) -> Result {
    var all: [UInt8] = []
    all.reserveCapacity(values.reduce(1) { $0 + ($1?.count ?? 0) })
    for value in values { all += value ?? [] }
    // Add a byte, so that an empty value has a pointer: a null pointer means NULL.
    all.append(0)
    return all.withUnsafeBytes { bytes in
      var offset = 0
      let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      return body(
        values.map { value in
          defer { offset += value?.count ?? 0 }
          return value == nil ? nil : start.map { $0 + offset }
        })
    }
  }
}
