#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The folder of a store.
package enum StoreFolder {
  /// Makes a folder that nobody else may read, if it is not there.
  static func make(_ folder: String) throws(OfflineStoreError) {
    guard mkdir(folder, 0o700) != 0 else { return }
    switch errno {
    case EEXIST: return
    case ENOSPC, EDQUOT: throw .full
    case EROFS, EACCES, EPERM: throw .readOnly
    default: throw .folder(String(cString: strerror(errno)))
    }
  }
}
