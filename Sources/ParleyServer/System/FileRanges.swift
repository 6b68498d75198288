import Glibc

/// An open file from which ranges of bytes are read.
final class FileRanges {
  private let file: Int32
  /// The size in bytes when the file was opened.
  let size: Int64

  /// Opens a regular file.
  init(_ path: String) throws(FileError) {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else {
      throw FileError("\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(file)
      throw FileError("\(path) cannot be read: expected a file")
    }
    self.file = file
    size = Int64(status.st_size)
  }

  deinit { close(file) }

  /// Returns `count` bytes from an offset, fewer at the end of the file; `nil` if reading fails.
  func read(at offset: Int64, _ count: Int) -> [UInt8]? {
    guard count > 0 else { return [] }
    var isRead = true
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      guard let start = buffer.baseAddress else { return }
      while filled < count {
        let part = pread(
          file, start + filled, count - filled, off_t(offset) + off_t(filled))
        if part == 0 { return }
        if part > 0 { filled += part } else if errno != EINTR { return isRead = false }
      }
    }
    return isRead ? bytes : nil
  }
}
