import GatewayPorts
import Glibc
import ParleyClient
import ParleyServer

/// Files of text on this machine, as `parley note` reads and writes them.
enum TextFile {
  /// The largest file taken, in bytes: as many as the longest note may have.
  static let bytesMax = 16 << 20

  /// A file as it is now: another stamp means that it was written to, or has another in its place.
  struct Stamp: Equatable {
    let device: UInt64
    let number: UInt64
    let size: Int64
    let seconds: Int
    let nanoseconds: Int

    /// `nil` if there is no such file.
    init?(_ path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      self.init(status)
    }

    fileprivate init(_ status: stat) {
      device = UInt64(status.st_dev)
      number = UInt64(status.st_ino)
      size = Int64(status.st_size)
      seconds = status.st_mtim.tv_sec
      nanoseconds = status.st_mtim.tv_nsec
    }
  }

  static func standardInput(bytesMax: Int) -> [UInt8]? {
    Files.read(STDIN_FILENO, bytesMax: bytesMax).flatMap { $0.count <= bytesMax ? $0 : nil }
  }

  /// The text of bytes in UTF-8, with `\n` at each line end and without a byte order mark.
  static func text(_ bytes: [UInt8], named name: String) throws(CommandFailure) -> String {
    guard !bytes.contains(0),
      let text = String(validating: WholeText.normalized(bytes), as: UTF8.self)
    else {
      throw CommandFailure("\(name) is no text: expected UTF-8 without NUL")
    }
    return text
  }

  /// Reads a file of text.
  static func read(_ path: String) throws(CommandFailure) -> String {
    guard let stamp = Stamp(path) else {
      throw CommandFailure("\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
    // Before it is read: there may be much of it.
    guard stamp.size <= Int64(bytesMax) else {
      throw CommandFailure("\(path) has over \(bytesMax >> 20) MB, which no note may have")
    }
    guard let bytes = Files.contents(of: path, bytesMax: bytesMax) else {
      throw CommandFailure("\(path) cannot be read, or has over \(bytesMax >> 20) MB")
    }
    return try text(bytes, named: path)
  }

  /// Puts a text into a file in one step.
  ///
  /// - Returns: The text that was in it at that moment, which may have been saved just before;
  ///   `nil` if there was no file, or the file system cannot say. And the stamp of what was put
  ///   there: the next save may be at the path by now.
  static func replace(
    _ path: String, by text: String
  ) throws(CommandFailure) -> (before: String?, stamp: Stamp) {
    // A link stays one.
    var target = path
    if let resolved = realpath(path, nil) {
      target = String(cString: resolved)
      free(resolved)
    }
    let fresh = target + ".parley~"
    unlink(fresh)
    var status = stat()
    let isThere = stat(target, &status) == 0
    let file = open(fresh, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw failure(fresh) }
    defer { unlink(fresh) }
    // The old one's rights; without any, those that the user gives new files.
    let mask = umask(0)
    umask(mask)
    fchmod(file, isThere ? status.st_mode & 0o777 : 0o666 & ~mask)
    var written = stat()
    let hasFailed =
      !Files.write(Array(text.utf8), to: file) || fsync(file) != 0 || fstat(file, &written) != 0
    let reason = errno
    close(file)
    errno = reason
    guard !hasFailed else { throw failure(fresh) }
    if isThere, FileSystem.exchange(fresh, target) {
      do throws(CommandFailure) {
        return (try read(fresh), Stamp(written))
      } catch {
        // A save just now contains no text: it stays.
        _ = FileSystem.exchange(fresh, target)
        throw error
      }
    }
    guard rename(fresh, target) == 0 else { throw failure(target) }
    return (nil, Stamp(written))
  }

  private static func failure(_ path: String) -> CommandFailure {
    CommandFailure("\(path) cannot be written: \(String(cString: strerror(errno)))")
  }
}

extension ServiceNote {
  /// The text as files and terminals take it, with `\n` at each line end.
  func lines() async throws(NoteError) -> String {
    String(decoding: WholeText.shown(Array(try await text().utf8)), as: UTF8.self)
  }
}
