import Glibc
import ParleyStoreRecords

/// Files of notes, identified by numbers.
extension SQLiteDatabase: FileTable {
  package static var fileKey: String { "number" }
  package static var noteFileKey: String { "file" }

  package var freeBytes: Int? { measureFreeBytes(path) }

  /// Returns the free bytes of the disk that contains a file; `nil` if unknown.
  static func freeBytes(ofDiskWith path: String) -> Int? {
    var disk = statvfs()
    guard statvfs(path, &disk) == 0 else { return nil }
    return Int(clamping: UInt64(disk.f_bavail) * UInt64(disk.f_frsize))
  }

  package func lockFiles() {}
}
