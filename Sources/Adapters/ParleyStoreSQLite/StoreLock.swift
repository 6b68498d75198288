import Glibc

/// The right to be a store's only process, held while this value lives.
///
/// There are two locks, and the kernel releases both however the process ends. One is on a file of
/// its own beside the database; it holds while there is no database yet, and its file names the
/// process. That file can be removed by hand, so the other is on the database itself: on one byte
/// far behind its end, which SQLite does not lock, and of a kind that belongs to the descriptor.
/// Closing any descriptor of a file ends all of SQLite's own locks on it in this process, so this
/// one is closed after the connection.
@safe struct StoreLock: ~Copyable {
  private let descriptor: Int32
  private var database: Int32 = -1

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

  /// Takes the lock on the database, which has to exist; before SQLite opens it.
  mutating func hold(database path: String) throws(StoreOpenError) {
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { throw StoreOpenError(errno: errno, path: path) }
    // A file system without such locks has the other one still.
    guard Self.set(F_WRLCK, on: descriptor) || (errno != EAGAIN && errno != EACCES) else {
      close(descriptor)
      throw .inUse(path: path, process: nil)
    }
    database = descriptor
  }

  /// The file that the lock on the database is on; `nil` before ``hold(database:)``.
  var databaseFile: FileIdentity? { FileIdentity(ofOpen: database) }

  /// Sets or releases the lock on the database's byte; whether that could be done.
  private static func set(_ type: Int32, on descriptor: Int32) -> Bool {
    var range: flock = .init()
    range.l_type = Int16(type)
    range.l_whence = Int16(SEEK_SET)
    range.l_start = lockedByte
    range.l_len = 1
    return withUnsafeMutablePointer(to: &range) { fcntl(descriptor, setOwnLock, $0) } == 0
  }

  /// `F_OFD_SETLK`, which Swift's Glibc leaves out.
  private static let setOwnLock: Int32 = 37
  private static let lockedByte = 1 << 62

  deinit {
    // Not left to `close`: a child that is just being made may still have the descriptors.
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
