import ParleyBrokerQueues
import CParleyPostgres
import Glibc

/// A connection for `LISTEN` and `NOTIFY`, closed when its owner is destroyed. Used by one thread.
///
/// No call waits for a reply: the thread waits for the socket, its queues and a timeout at once.
final class HintConnection {
  struct Notification {
    let channel: String
    let payload: [UInt8]
  }

  private let handle: OpaquePointer
  /// Whether replies to a sent command are pending.
  private(set) var isBusy = false

  init(_ address: PostgresAddress) throws(BrokerFailure) {
    do throws(NotConnected) {
      handle = try address.connect(as: "parley hints")
    } catch {
      throw BrokerFailure(reason: error.reason)
    }
  }

  deinit { PQfinish(handle) }

  /// Sends commands without parameters, as one transaction.
  func send(_ commands: String) throws(BrokerFailure) {
    guard PQsendQuery(handle, commands) == 1 else {
      throw BrokerFailure(reason: "the connection accepts no more data")
    }
    isBusy = true
  }

  /// Sends notifications in one transaction. No channel or payload may need quotes in an SQL array.
  func notify(_ notifications: [(channel: String, payload: String)]) throws(BrokerFailure) {
    let channels = "{" + notifications.map(\.channel).joined(separator: ",") + "}"
    let payloads = "{" + notifications.map(\.payload).joined(separator: ",") + "}"
    let code = withCStrings([channels, payloads]) { values in
      PQsendQueryParams(
        handle,
        "SELECT pg_notify(c, p) FROM unnest($1::pg_catalog.text[], $2::pg_catalog.text[]) AS n(c, p)",
        2, nil, values, nil, nil, 1)
    }
    guard code == 1 else { throw BrokerFailure(reason: "the connection accepts no more data") }
    isBusy = true
  }

  /// Waits until the socket or the other descriptor is ready, or until the timeout; then reads
  /// replies and notifications.
  func wait(or waker: Int32, atMostMilliseconds limit: Int64) throws(BrokerFailure) {
    let left = PQflush(handle)
    guard left >= 0 else { throw BrokerFailure(reason: "it broke while sending") }
    var waiting = [
      pollfd(
        fd: PQsocket(handle), events: Int16(POLLIN | (left == 1 ? POLLOUT : 0)), revents: 0),
      pollfd(fd: waker, events: Int16(POLLIN), revents: 0),
    ]
    guard poll(&waiting, 2, Int32(clamping: limit)) > 0 else { return }
    guard waiting[0].revents != 0 else { return }
    guard PQconsumeInput(handle) == 1 else { throw BrokerFailure(reason: "it was ended") }
    try readAnswers()
  }

  private func readAnswers() throws(BrokerFailure) {
    while isBusy, PQisBusy(handle) == 0 {
      guard let result = PQgetResult(handle) else {
        isBusy = false
        return
      }
      defer { PQclear(result) }
      switch PQresultStatus(result) {
      case PGRES_COMMAND_OK, PGRES_TUPLES_OK: break
      default:
        // Report only the code: the message may contain user data.
        let code = PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) }
        throw BrokerFailure(reason: "PostgreSQL refused, code \(code ?? "none")")
      }
    }
  }

  /// Returns the next received notification.
  func next() -> Notification? {
    guard let raw = PQnotifies(handle) else { return nil }
    defer { PQfreemem(raw) }
    let payload = UnsafeRawBufferPointer(start: raw.pointee.extra, count: strlen(raw.pointee.extra))
    return Notification(channel: String(cString: raw.pointee.relname), payload: Array(payload))
  }
}
