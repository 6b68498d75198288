import Glibc

/// The service manager that started this process, told by datagrams of `sd_notify`'s form.
///
/// Without `NOTIFY_SOCKET` in the environment there is none. The messages are short, and one that
/// cannot be sent at once is dropped.
public struct ServiceManager: Sendable {
  /// The interval at which the manager expects a sign of life, in microseconds; `nil` for none.
  package let watchdogMicroseconds: Int64?
  private let path: String

  /// Finds the manager in the environment.
  public init?(environment: [String: String]) {
    guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@"),
      path.utf8.count > 1, path.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path)
    else { return nil }
    self.path = path
    // The watchdog may be meant for another process, such as a shell that started this one.
    let isMeant = environment["WATCHDOG_PID"].map { $0 == "\(getpid())" } ?? true
    watchdogMicroseconds = environment["WATCHDOG_USEC"].flatMap(Int64.init).flatMap {
      isMeant && $0 > 0 ? $0 : nil
    }
  }

  /// Says that the process serves.
  public func ready() { send("READY=1\n") }

  /// Says that the process is stopping.
  public func stopping() { send("STOPPING=1\n") }

  /// Says that the process is well.
  package func feedWatchdog() { send("WATCHDOG=1\n") }

  private func send(_ message: String) {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { room in
      room.copyBytes(from: path.utf8)
      // An abstract name begins with a zero byte.
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
