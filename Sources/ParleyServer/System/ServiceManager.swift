import Glibc

/// The service manager that started this process, notified by datagrams as in `sd_notify`.
///
/// There is none without `NOTIFY_SOCKET` in the environment. A message that cannot be sent
/// immediately is dropped.
public struct ServiceManager: Sendable {
  /// The watchdog interval in microseconds; `nil` if the manager uses no watchdog.
  package let watchdogMicroseconds: Int64?
  private let path: String

  /// Finds the manager in the environment; `nil` if missing.
  public init?(environment: [String: String]) {
    guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@"),
      path.utf8.count > 1, path.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path)
    else { return nil }
    self.path = path
    // The watchdog may apply to another process, such as a shell that started this one.
    let isMeant = environment["WATCHDOG_PID"].map { $0 == "\(getpid())" } ?? true
    watchdogMicroseconds = environment["WATCHDOG_USEC"].flatMap(Int64.init).flatMap {
      isMeant && $0 > 0 ? $0 : nil
    }
  }

  /// Reports that the server has started.
  public func ready() { send("READY=1\n") }

  /// Reports that the server is stopping.
  public func stopping() { send("STOPPING=1\n") }

  /// Reports that the process is healthy.
  package func feedWatchdog() { send("WATCHDOG=1\n") }

  private func send(_ message: String) {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { room in
      room.copyBytes(from: path.utf8)
      // The name of an abstract socket begins with a zero byte.
      if path.hasPrefix("@") { room[0] = 0 }
    }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + path.utf8.count)
    let bytes = Array(message.utf8)
    _ = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT), $0, length)
      }
    }
  }
}
