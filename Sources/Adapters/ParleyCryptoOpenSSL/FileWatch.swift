package import ParleyGatewayPorts
import Glibc

/// A stamp that changes when a file is written to.
package struct FileStamp: Sendable, Equatable {
  private var seconds = 0
  private var nanoseconds = 0
  private var size = 0
  private var file: UInt64 = 0

  /// The file's stamp; `nil` if it is not there.
  package init?(path: String) {
    var status = Glibc.stat()
    guard stat(path, &status) == 0 else { return nil }
    seconds = status.st_mtim.tv_sec
    nanoseconds = status.st_mtim.tv_nsec
    size = Int(status.st_size)
    file = UInt64(status.st_ino)
  }
}

/// Tells when a file should be read again, looking at it no more than once a second.
package struct FileWatch: Sendable {
  /// Between two looks.
  private static let lookMilliseconds: Int64 = 1_000

  /// The file.
  package let path: String
  private var stamp: FileStamp?
  private var lastLook: Timestamp = 0

  /// Watches from now on: make it before reading, so that what is written meanwhile is seen at the
  /// next look.
  package init(path: String) {
    self.path = path
    stamp = FileStamp(path: path)
  }

  /// Whether the file is another one than at the last look.
  package mutating func hasChanged(now: Timestamp) -> Bool {
    // A clock that was set back must not keep a change from being seen.
    guard abs(now - lastLook) >= Self.lookMilliseconds else { return false }
    lastLook = now
    let stamp = FileStamp(path: path)
    defer { self.stamp = stamp }
    return stamp != self.stamp
  }
}
