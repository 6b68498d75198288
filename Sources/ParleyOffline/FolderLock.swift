#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The right to use a folder alone, held while this lives. The system takes it back however the process
/// ends.
final class FolderLock: Sendable {
  private let descriptor: Int32

  /// Makes the folder if it is not there, and takes the lock.
  init(_ folder: String) throws(OfflineStoreError) {
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw Self.failure() }
    descriptor = open(folder + "/lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.failure() }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let failure = errno == EWOULDBLOCK ? OfflineStoreError.inUse : Self.failure()
      close(descriptor)
      throw failure
    }
  }

  deinit { close(descriptor) }

  private static func failure() -> OfflineStoreError {
    switch errno {
    case ENOSPC, EDQUOT: .full
    case EROFS, EACCES, EPERM: .readOnly
    default: .folder(String(cString: strerror(errno)))
    }
  }
}
