import Glibc

/// The right to be a store's only process, held while this value lives.
///
/// The lock is on a file of its own beside the database: to lock the database file itself would
/// need a descriptor of it, and closing any descriptor of a file ends all of SQLite's locks on it.
/// The kernel lets go of the lock however the process ends.
@safe struct StoreLock: ~Copyable {
  private let descriptor: Int32

  /// Takes the lock, or says who holds it.
  init(beside path: String) throws(StoreOpenError) {
    let lockPath = path + "-lock"
    let descriptor = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw StoreOpenError(errno: errno, path: path) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let failure = errno
      let holder = Self.readHolder(descriptor)
      close(descriptor)
      guard failure == EWOULDBLOCK else { throw StoreOpenError(errno: failure, path: path) }
      throw .inUse(path: path, process: holder)
    }
    // The number is for people; a disk too full to take it locks as well without.
    let holder = Array("\(getpid())\n".utf8)
    ftruncate(descriptor, 0)
    pwrite(descriptor, holder, holder.count, 0)
    self.descriptor = descriptor
  }

  deinit {
    // Not left to `close`: a child that is just being made may still have the descriptor.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  private static func readHolder(_ descriptor: Int32) -> Int? {
    var buffer = [UInt8](repeating: 0, count: 20)
    let count = pread(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else { return nil }
    return Int(String(decoding: buffer[..<count].prefix { $0 != 0x0a }, as: UTF8.self))
  }
}
