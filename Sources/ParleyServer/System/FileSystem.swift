import CParleyLinux
import Glibc

/// Properties of file systems, and operations that require Linux.
package enum FileSystem {
  /// File systems that are unreliable for a database, by the number from `statfs` (linux/magic.h),
  /// with the problem and its remedy.
  private static let doubtful: [UInt: String] = [
    0x6969: "NFS, where locks and syncs are not what a database needs: use a local disk",
    0xff53_4d42: "CIFS, where locks and syncs are not what a database needs: use a local disk",
    0xfe53_4d42: "SMB, where locks and syncs are not what a database needs: use a local disk",
    0x0102_1994: "tmpfs, which forgets everything when the machine restarts: use a disk",
  ]

  /// Returns the reason why a folder's file system is unreliable; `nil` if none is known.
  static func doubtful(at path: String) -> String? {
    doubtful[CLinux_fileSystem(path)]
  }

  /// Returns the median time of a small write with its sync, in microseconds.
  static func syncTime(in folder: String) throws(FileError) -> Int64 {
    var path = Array("\(folder)/.parley-doctor-XXXXXX".utf8CString)
    let file = mkstemp(&path)
    guard file >= 0 else {
      throw FileError("\(folder) cannot be written to: \(String(cString: strerror(errno)))")
    }
    defer {
      close(file)
      unlink(path)
    }
    let clock = SystemClock()
    let page = [UInt8](repeating: 0, count: 4_096)
    var times: [Int64] = []
    for _ in 0..<15 {
      let begin = clock.microseconds
      guard write(file, page, page.count) == page.count, fdatasync(file) == 0 else {
        throw FileError("\(folder) cannot be synced: \(String(cString: strerror(errno)))")
      }
      times.append(clock.microseconds - begin)
    }
    return times.sorted()[times.count / 2]
  }

  /// Exchanges two files atomically; returns `false` if the file system does not support this.
  package static func exchange(_ path: String, _ other: String) -> Bool {
    CLinux_exchange(path, other) == 0
  }

  /// Whether the kernel reports that a time service synchronises the clock.
  static var isClockSynchronised: Bool { CLinux_isClockSynchronised() == 1 }
}
