import Glibc

/// A file open for appending, with an exclusive lock against other processes until the value is
/// destroyed.
@safe struct LockedFile: ~Copyable {
  private let path: String
  private let descriptor: Int32

  /// Opens a file, creating it if it does not exist, and waits for its lock.
  init(path: String) throws(FileError) {
    self.path = path
    while true {
      let descriptor = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw Self.failure(path) }
      while flock(descriptor, LOCK_EX) != 0 {
        guard errno == EINTR else {
          let failure = Self.failure(path)
          close(descriptor)
          throw failure
        }
      }
      // If the file was replaced while waiting, the lock is on a file that no path refers to.
      if Self.isSame(descriptor, path) {
        self.descriptor = descriptor
        return
      }
      close(descriptor)
    }
  }

  deinit {
    // Not left to `close`: a child process that is being started may still hold the descriptor.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// Whether the file is empty or ends with a newline.
  var endsInLine: Bool {
    guard size > 0 else { return true }
    var last: UInt8 = 0
    return pread(descriptor, &last, 1, size - 1) == 1 && last == UInt8(ascii: "\n")
  }

  /// Appends and syncs bytes. On failure, the file is truncated to its old size if possible.
  ///
  /// - Returns: Whether the bytes are on disk.
  borrowing func append(_ bytes: [UInt8]) -> Bool {
    let size = size
    guard write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0 else {
      ftruncate(descriptor, size)
      return false
    }
    // A new file is durable only once its folder is synced.
    return size > 0 || syncFolder()
  }

  /// Syncs the file's folder; returns whether it succeeded.
  @discardableResult
  borrowing func syncFolder() -> Bool { Files.syncFolder(of: path) }

  /// Whether the file is empty.
  var isEmpty: Bool { size == 0 }

  /// Removes the file, unless another one has replaced it.
  borrowing func remove() {
    if Self.isSame(descriptor, path) { unlink(path) }
  }

  private var size: Int {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
  }

  private static func isSame(_ descriptor: Int32, _ path: String) -> Bool {
    var opened = stat()
    var named = stat()
    return fstat(descriptor, &opened) == 0 && stat(path, &named) == 0
      && opened.st_ino == named.st_ino && opened.st_dev == named.st_dev
  }

  private static func failure(_ path: String) -> FileError {
    FileError("\(path) cannot be written to: \(String(cString: strerror(errno)))")
  }
}
