import CParleyPostgres
import Glibc

/// Why there is no connection.
struct NotConnected: Error {
  let reason: String
}

extension PostgresAddress {
  /// Connects without waiting for single answers afterwards.
  ///
  /// - Returns: The connection, which its owner finishes.
  func connect(as application: String) throws(NotConnected) -> OpaquePointer {
    let options = options(application: application)
    let connected = withCStrings(options.map(\.name)) { names in
      withCStrings(options.map(\.value)) { values in PQconnectdbParams(names, values, 0) }
    }
    guard let connected else { throw NotConnected(reason: "no memory for a connection") }
    guard PQstatus(connected) == CONNECTION_OK else {
      let reason = redacted(String(cString: PQerrorMessage(connected)))
      PQfinish(connected)
      throw NotConnected(reason: reason.isEmpty ? "no answer" : reason)
    }
    guard PQsetnonblocking(connected, 1) == 0 else {
      PQfinish(connected)
      throw NotConnected(reason: "libpq blocks")
    }
    return connected
  }
}

/// Calls `body` with texts as C strings, and a null pointer at their end.
func withCStrings<Result>(
  _ texts: [String], _ body: ([UnsafePointer<CChar>?]) -> Result
) -> Result {
  let copies = texts.map { strdup($0) }
  defer { for copy in copies { free(copy) } }
  return body(copies.map { UnsafePointer($0) } + [nil])
}

/// Milliseconds of a clock that is never set.
func monotonicMilliseconds() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
}
