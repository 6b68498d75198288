import Glibc

/// The exclusive right of a process to a store, as long as this value exists.
///
/// There are two locks, which the kernel releases when the process ends for any reason. The first
/// is on a separate file beside the database, which contains the process's number; it works before
/// the database exists. As an operator can delete this file, the second is on the database itself:
/// on one byte far beyond its end, which SQLite does not lock. This lock belongs to its descriptor.
/// Closing any descriptor of a file releases all SQLite's locks on it in this process, so the
/// descriptor is closed after the connection.
@safe struct StoreLock: ~Copyable {
  private let descriptor: Int32
  private var database: Int32 = -1

  /// Takes the first lock; throws `inUse` with the process that has it.
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
    // The number is only information: locking succeeds even if a full disk cannot store it.
    let holder = Array("\(getpid())\n".utf8)
    ftruncate(descriptor, 0)
    pwrite(descriptor, holder, holder.count, 0)
    self.descriptor = descriptor
  }

  /// Takes the lock on an existing database. Must be called before SQLite opens it.
  mutating func hold(database path: String) throws(StoreOpenError) {
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { throw StoreOpenError(errno: errno, path: path) }
    // If the file system does not support such locks, the first lock must suffice.
    guard Self.set(F_WRLCK, on: descriptor) || (errno != EAGAIN && errno != EACCES) else {
      close(descriptor)
      throw .inUse(path: path, process: nil)
    }
    database = descriptor
  }

  /// The file whose lock is held; `nil` before ``hold(database:)``.
  var databaseFile: FileIdentity? { FileIdentity(ofOpen: database) }

  /// Sets or releases the lock on the database's byte; returns whether this succeeded.
  private static func set(_ type: Int32, on descriptor: Int32) -> Bool {
    var range: flock = .init()
    range.l_type = Int16(type)
    range.l_whence = Int16(SEEK_SET)
    range.l_start = lockedByte
    range.l_len = 1
    return withUnsafeMutablePointer(to: &range) { fcntl(descriptor, setOwnLock, $0) } == 0
  }

  /// `F_OFD_SETLK`, which Swift's Glibc module does not contain.
  private static let setOwnLock: Int32 = 37
  private static let lockedByte = 1 << 62

  deinit {
    // Unlock explicitly: a child process that is being forked may have inherited the descriptors,
    // and its copies would retain the locks.
    if database >= 0 {
      _ = Self.set(F_UNLCK, on: database)
      close(database)
    }
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
