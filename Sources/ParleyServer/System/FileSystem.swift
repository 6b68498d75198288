import CLinux
import Glibc

/// Properties of the file system of a folder.
package enum FileSystem {
  /// File systems on which a database may not keep its word, by the number that `statfs` gives
  /// (linux/magic.h); what they are and what to do.
  private static let doubtful: [UInt: String] = [
    0x6969: "NFS, where locks and syncs are not what a database needs: use a local disk",
    0xff53_4d42: "CIFS, where locks and syncs are not what a database needs: use a local disk",
    0xfe53_4d42: "SMB, where locks and syncs are not what a database needs: use a local disk",
    0x0102_1994: "tmpfs, which forgets everything when the machine restarts: use a disk",
  ]

  /// Why the file system of a folder is not one for a database; `nil` if nothing is known.
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

  /// Has two files change places in one step; whether they have. Some file systems cannot do it.
  package static func exchange(_ path: String, _ other: String) -> Bool {
    CLinux_exchange(path, other) == 0
  }

  /// Whether the kernel says that a time service keeps its clock right.
  static var isClockSynchronised: Bool { CLinux_isClockSynchronised() == 1 }
}
