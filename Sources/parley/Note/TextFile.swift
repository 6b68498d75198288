import ParleyGatewayPorts
import Glibc
import ParleyClient
import ParleyServer

/// Reads and writes text files on this machine, for `parley note`.
enum TextFile {
  /// Maximum bytes of a file: as many as the longest note can have.
  static let bytesMax = 16 << 20

  /// The identity and modification time of a file; changes if the file is written or replaced.
  struct Stamp: Equatable {
    let device: UInt64
    let number: UInt64
    let size: Int64
    let seconds: Int
    let nanoseconds: Int

    /// Reads the stamp of a file; `nil` if there is no such file.
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

  /// Returns the text of UTF-8 bytes, with line ends `\n` and without a byte order mark.
  static func text(_ bytes: [UInt8], named name: String) throws(CommandFailure) -> String {
    guard !bytes.contains(0),
      let text = String(validating: WholeText.normalized(bytes), as: UTF8.self)
    else {
      throw CommandFailure("\(name) is no text: expected UTF-8 without NUL")
    }
    return text
  }

  /// Reads a text file.
  static func read(_ path: String) throws(CommandFailure) -> String {
    guard let stamp = Stamp(path) else {
      throw CommandFailure("\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
    // Checked first, so that a huge file is not read.
    guard stamp.size <= Int64(bytesMax) else {
      throw CommandFailure("\(path) has over \(bytesMax >> 20) MB, which no note may have")
    }
    guard let bytes = Files.contents(of: path, bytesMax: bytesMax) else {
      throw CommandFailure("\(path) cannot be read, or has over \(bytesMax >> 20) MB")
    }
    return try text(bytes, named: path)
  }

  /// Replaces the text of a file atomically.
  ///
  /// - Returns: The replaced text, which may have been saved just before; `nil` if there was no
  ///   file, or the file system cannot exchange files. And the stamp of the written file, since
  ///   another save may have replaced it already.
  static func replace(
    _ path: String, by text: String
  ) throws(CommandFailure) -> (before: String?, stamp: Stamp) {
    // Replaces the target of a symbolic link, not the link.
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
    // Use the permissions of the old file; for a new file, those of the user's umask.
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
        // The file saved just now is not a text: restore it.
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
  /// Returns the text for files and terminals, with line ends `\n`.
  func lines() async throws(NoteError) -> String {
    String(decoding: WholeText.shown(Array(try await text().utf8)), as: UTF8.self)
  }
}
