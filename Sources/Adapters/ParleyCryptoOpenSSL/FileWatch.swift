package import ParleyGatewayPorts
import Glibc

/// A stamp that changes when a file is modified or replaced.
package struct FileStamp: Sendable, Equatable {
  private var seconds = 0
  private var nanoseconds = 0
  private var size = 0
  private var file: UInt64 = 0

  /// Reads the file's stamp; `nil` if it does not exist.
  package init?(path: String) {
    var status = Glibc.stat()
    guard stat(path, &status) == 0 else { return nil }
    seconds = status.st_mtim.tv_sec
    nanoseconds = status.st_mtim.tv_nsec
    size = Int(status.st_size)
    file = UInt64(status.st_ino)
  }
}

/// A watch that detects when a file must be read again. It reads the stamp at most once a second.
package struct FileWatch: Sendable {
  /// The minimum milliseconds between two checks.
  private static let lookMilliseconds: Int64 = 1_000

  /// The path of the watched file.
  package let path: String
  private var stamp: FileStamp?
  private var lastLook: Timestamp = 0

  /// Starts to watch a file. Create the watch before reading the file, to detect later changes.
  package init(path: String) {
    self.path = path
    stamp = FileStamp(path: path)
  }

  /// Whether the file has changed since the last check.
  package mutating func hasChanged(now: Timestamp) -> Bool {
    // A clock that was set back must not delay the next check.
    guard abs(now - lastLook) >= Self.lookMilliseconds else { return false }
    lastLook = now
    let stamp = FileStamp(path: path)
    defer { self.stamp = stamp }
    return stamp != self.stamp
  }
}
