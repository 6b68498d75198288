import Glibc
import ParleyStoreRecords

/// Files of notes, by numbers.
extension SQLiteDatabase: FileTable {
  package static var fileKey: String { "number" }
  package static var noteFileKey: String { "file" }

  package var freeBytes: Int? { measureFreeBytes(path) }

  /// Free bytes of the disk that holds a file; `nil` if they cannot be determined.
  static func freeBytes(ofDiskWith path: String) -> Int? {
    var disk = statvfs()
    guard statvfs(path, &disk) == 0 else { return nil }
    return Int(clamping: UInt64(disk.f_bavail) * UInt64(disk.f_frsize))
  }

  package func lockFiles() {}
}
