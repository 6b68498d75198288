#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The folder of a store, and who may read its files.
package enum StoreFolder {
  /// Makes a folder that only its owner may read, if it is not there.
  static func make(_ folder: String) throws(OfflineStoreError) {
    guard mkdir(folder, 0o700) != 0 else { return }
    switch errno {
    case EEXIST: return
    case ENOSPC, EDQUOT: throw .full
    case EROFS, EACCES, EPERM: throw .readOnly
    default: throw .folder(String(cString: strerror(errno)))
    }
  }

  /// Makes an empty database that only its owner may read, if there is none. SQLite would let all
  /// users read it, and gives its other files the database's mode.
  ///
  /// A file that is there is not opened: closing it would take away the locks that another connection of
  /// this process has on it. Where none can be made, SQLite says why.
  static func makeFile(_ path: String) {
    let file = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
    if file >= 0 { close(file) }
  }

  /// Takes the right to read the database, and SQLite's files beside it, from all users but its
  /// owner.
  static func makePrivate(_ path: String) {
    for end in ["", "-wal", "-journal"] {
      var status = stat()
      guard stat(path + end, &status) == 0, status.st_mode & 0o077 != 0 else { continue }
      // A file of another owner stays as that owner wants it.
      _ = chmod(path + end, status.st_mode & 0o700)
    }
  }
}
