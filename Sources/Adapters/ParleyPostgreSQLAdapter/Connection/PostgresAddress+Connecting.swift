import CParleyPostgres
import Glibc

/// The reason why a connection could not be established.
struct NotConnected: Error {
  let reason: String
}

extension PostgresAddress {
  /// Connects, and makes the connection non-blocking.
  ///
  /// - Returns: The connection, which the caller must finish.
  func connect(as application: String) throws(NotConnected) -> OpaquePointer {
    let options = options(application: application)
    let connected = withCStrings(options.map(\.name)) { names in
      withCStrings(options.map(\.value)) { values in PQconnectdbParams(names, values, 0) }
    }
    guard let connected else { throw NotConnected(reason: "out of memory") }
    guard PQstatus(connected) == CONNECTION_OK else {
      let reason = redacted(String(cString: PQerrorMessage(connected)))
      PQfinish(connected)
      throw NotConnected(reason: reason.isEmpty ? "no response" : reason)
    }
    guard PQsetnonblocking(connected, 1) == 0 else {
      PQfinish(connected)
      throw NotConnected(reason: "libpq cannot be set to non-blocking mode")
    }
    return connected
  }
}

/// Calls `body` with C strings, followed by a null pointer.
func withCStrings<Result>(
  _ texts: [String], _ body: ([UnsafePointer<CChar>?]) -> Result
) -> Result {
  let copies = texts.map { strdup($0) }
  defer { for copy in copies { free(copy) } }
  return body(copies.map { UnsafePointer($0) } + [nil])
}

/// Returns the milliseconds of the monotonic clock.
func monotonicMilliseconds() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
}
