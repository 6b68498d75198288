import ParleyClient

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The folder of a store, and the permissions of its files.
package enum StoreFolder {
  /// Creates a folder that only its owner may access, and those above it, if they do not exist.
  static func make(_ folder: String) throws(OfflineStoreError) {
    switch DataFolder.make(folder) {
    case 0: return
    case ENOSPC, EDQUOT: throw .full
    case EROFS, EACCES, EPERM: throw .readOnly
    case let code: throw .folder(String(cString: strerror(code)))
    }
  }

  /// Creates an empty database that only its owner may read, if it does not exist. SQLite would let
  /// all users read it, and gives its other files the database's mode.
  ///
  /// An existing file is not opened: closing it would release the locks that another connection of
  /// this process holds on it. If the file cannot be created, SQLite reports the reason.
  static func makeFile(_ path: String) {
    let file = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
    if file >= 0 { close(file) }
  }

  /// Revokes the access of other users to the database and to SQLite's files beside it.
  static func makePrivate(_ path: String) {
    for end in ["", "-wal", "-journal"] {
      var status = stat()
      guard stat(path + end, &status) == 0, status.st_mode & 0o077 != 0 else { continue }
      // For a file of another owner this fails, and its mode remains.
      _ = chmod(path + end, status.st_mode & 0o700)
    }
  }
}
