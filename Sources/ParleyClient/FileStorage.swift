import Dispatch

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A storage of files in a folder, one for each key.
///
/// A value is written to a second file, synced, and renamed to replace the old one; then the folder
/// is synced. The folder is locked while the storage exists, because only one client may use it.
public final class FileStorage: ClientStorage {
  /// The reason why a storage cannot be used, with the system's message.
  public struct Failure: Error, Sendable, CustomStringConvertible {
    /// The step that failed, the file and the reason.
    public let description: String
  }

  private let folder: String
  private let lock: Int32
  private let queue = DispatchQueue(label: "parley.storage")

  /// Opens the app's folder with a name, and creates it if necessary; on Linux it is in
  /// `$XDG_DATA_HOME` or `~/.local/share`. On Apple's systems it is in *Application Support*, is
  /// not backed up, and can be read in the background once the device was unlocked. Blocks the
  /// calling thread.
  ///
  /// - Parameter name: Any text, such as the person's id: a folder belongs to one client and one
  ///   person.
  /// - Throws: ``Failure`` if the folder cannot be created or another client uses it.
  public convenience init(named name: String) throws(Failure) {
    let folder = DataFolder.path(named: name)
    try self.init(folder: folder)
    DataFolder.protect(folder)
  }

  /// Opens a folder, and creates it and those above it if necessary. Blocks the calling thread.
  ///
  /// - Parameter folder: A folder that contains nothing else. Exclude it from backups: a restored
  ///   one would continue
  ///   from an older state.
  /// - Throws: ``Failure`` if the folder cannot be created or another client uses it.
  public init(folder: String) throws(Failure) {
    self.folder = folder
    let code = DataFolder.make(folder)
    guard code == 0 else {
      errno = code
      throw Self.failure("the folder cannot be created", folder)
    }
    let path = folder + "/lock"
    lock = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    guard lock >= 0 else { throw Self.failure("the folder cannot be used", path) }
    guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      // `deinit` closes the lock file: it runs because all properties are set.
      throw Self.failure(
        "another client uses the folder; give each client another folder", folder)
    }
  }

  deinit { close(lock) }

  /// Returns the value of a key; `nil` if missing.
  public func read(_ key: String) async throws -> [UInt8]? {
    try await run { () throws(Failure) in try self.contents(of: self.path(of: key)) }
  }

  /// Writes a value, replacing the former one; it is on disk when this returns.
  public func write(_ value: [UInt8], for key: String) async throws {
    try await run { () throws(Failure) in
      let path = try self.path(of: key)
      let fresh = path + "~"
      do throws(Failure) {
        try self.put(value, into: fresh)
        guard rename(fresh, path) == 0 else { throw Self.failure("renaming failed", path) }
      } catch {
        // An incomplete file would take space from the next attempt on a full disk.
        unlink(fresh)
        throw error
      }
      try Self.syncFolder(self.folder)
    }
  }

  /// Removes a value, if there is one; it is removed from disk when this returns.
  public func remove(_ key: String) async throws {
    try await run { () throws(Failure) in
      let path = try self.path(of: key)
      guard unlink(path) == 0 || errno == ENOENT else {
        throw Self.failure("removing failed", path)
      }
      try Self.syncFolder(self.folder)
    }
  }

  /// Returns all keys that begin with a text.
  public func keys(beginningWith prefix: String) async throws -> [String] {
    try await run { () throws(Failure) in
      guard let listing = opendir(self.folder) else {
        throw Self.failure("listing failed", self.folder)
      }
      defer { closedir(listing) }
      var keys: [String] = []
      while let entry = readdir(listing) {
        // Without a copy: a copy would read 256 bytes, and the entry's memory may end before that.
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
          String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        if let key = Self.key(of: name), key.hasPrefix(prefix) { keys.append(key) }
      }
      return keys
    }
  }

  // MARK: Names

  private func path(of key: String) throws(Failure) -> String {
    let name = Self.name(of: key)
    guard name.utf8.count <= Self.nameBytesMax else {
      throw Failure(description: "the key has more bytes than a file's name may have")
    }
    return folder + "/" + name
  }

  private static let nameBytesMax = 250
  private static let digits = Array("0123456789abcdef")

  /// Returns the name of a key's file: `=`, then lower-case letters, digits and hyphens unchanged,
  /// and other bytes as `%` with two hexadecimal digits, because some file systems ignore case.
  static func name(of key: String) -> String {
    var name = "="
    for byte in key.utf8 {
      switch byte {
      case 0x30...0x39, 0x61...0x7a, 0x2d: name.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        name.append("%")
        name.append(digits[Int(byte >> 4)])
        name.append(digits[Int(byte & 15)])
      }
    }
    return name
  }

  /// Returns the key of a file; `nil` for other files.
  static func key(of name: String) -> String? {
    guard name.first == "=" else { return nil }
    var bytes: [UInt8] = []
    var rest = name.utf8.dropFirst()
    while let first = rest.popFirst() {
      guard first == UInt8(ascii: "%") else {
        bytes.append(first)
        continue
      }
      guard let byte = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
        return nil
      }
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    guard let key = String(validating: bytes, as: UTF8.self), self.name(of: key) == name else {
      return nil
    }
    return key
  }

  // MARK: Files

  private func contents(of path: String) throws(Failure) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      if errno == ENOENT { return nil }
      throw Self.failure("reading failed", path)
    }
    defer { close(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = piece.withUnsafeMutableBytes { systemRead(file, $0.baseAddress, $0.count) }
      if count == 0 { return bytes }
      if count > 0 {
        bytes += piece[..<count]
      } else if errno != EINTR {
        throw Self.failure("reading failed", path)
      }
    }
  }

  private func put(_ value: [UInt8], into path: String) throws(Failure) {
    let file = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Self.failure("writing failed", path) }
    defer { close(file) }
    var rest = value[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { systemWrite(file, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        throw Self.failure("writing failed", path)
      }
    }
    guard Self.sync(file) else { throw Self.failure("syncing failed", path) }
  }

  private static func syncFolder(_ folder: String) throws(Failure) {
    let file = open(folder, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw failure("syncing failed", folder) }
    defer { close(file) }
    guard fsync(file) == 0 else { throw failure("syncing failed", folder) }
  }

  private static func sync(_ file: Int32) -> Bool {
    #if canImport(Darwin)
      // On Apple's systems `fsync` returns when the data is in the drive's cache.
      if fcntl(file, F_FULLFSYNC) == 0 { return true }
    #endif
    return fsync(file) == 0
  }

  private static func failure(_ what: String, _ path: String) -> Failure {
    Failure(description: "\(what): \(String(cString: strerror(errno))) (\(path))")
  }

  /// Runs blocking work on a serial queue.
  private func run<Value: Sendable>(
    _ work: @escaping @Sendable () throws(Failure) -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try work() }) }
    }
  }
}

#if canImport(Darwin)
  private let systemRead = Darwin.read
  private let systemWrite = Darwin.write
#else
  private let systemRead = Glibc.read
  private let systemWrite = Glibc.write
#endif
