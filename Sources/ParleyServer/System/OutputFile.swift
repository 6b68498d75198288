import Glibc

/// A file that is being written: a new one, or standard output.
struct OutputFile {
  private let descriptor: Int32

  static let standard = OutputFile(descriptor: STDOUT_FILENO)

  private init(descriptor: Int32) { self.descriptor = descriptor }

  init(path: String) throws(FileError) {
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw FileError("\(path) cannot be made: \(String(cString: strerror(errno)))")
    }
  }

  func write(_ bytes: [UInt8]) throws(FileError) {
    guard Files.write(bytes, to: descriptor) else {
      throw FileError("the output cannot be written: \(String(cString: strerror(errno)))")
    }
  }

  func close() throws(FileError) {
    guard descriptor != STDOUT_FILENO else { return }
    guard fsync(descriptor) == 0, Glibc.close(descriptor) == 0 else {
      throw FileError("the output cannot be written: \(String(cString: strerror(errno)))")
    }
  }
}
