import Glibc

/// The reason why an operation on a file failed, or its content is invalid.
public struct FileError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A message for people.
  public let description: String

  /// Creates an error.
  public init(_ description: String) { self.description = description }
}

/// Operations on files and folders.
public enum Files {
  /// Maximum bytes of a text file such as the configuration.
  static let textBytesMax = 1 << 20

  /// Reads a whole file.
  ///
  /// - Parameter bytesMax: The maximum bytes; a larger file is rejected.
  static func bytes(at path: String, bytesMax: Int = .max) throws(FileError) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      throw FileError("\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
    defer { close(file) }
    guard let bytes = read(file, bytesMax: bytesMax) else {
      throw FileError("\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
    guard bytes.count <= bytesMax else {
      throw FileError(
        "\(path) is larger than \(ValueText.text(bytes: bytesMax)), the maximum")
    }
    return bytes
  }

  /// Reads a text file of at most 1 MiB.
  public static func text(at path: String) throws(FileError) -> String {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw FileError(String(cString: strerror(errno))) }
    defer { close(file) }
    guard let bytes = read(file, bytesMax: textBytesMax) else {
      throw FileError(String(cString: strerror(errno)))
    }
    guard bytes.count <= textBytesMax else {
      throw FileError("it is larger than \(ValueText.text(bytes: textBytesMax))")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw FileError("it is not UTF-8")
    }
    return text
  }

  /// Returns the content of a file; `nil` if it cannot be read or is larger than `bytesMax`.
  package static func contents(of path: String, bytesMax: Int) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    return read(file, bytesMax: bytesMax).flatMap { $0.count <= bytesMax ? $0 : nil }
  }

  /// Reads a file to its end, or until it has read more than `bytesMax` bytes; `nil` on failure.
  package static func read(_ file: Int32, bytesMax: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while bytes.count <= bytesMax {
      let count = Glibc.read(file, &chunk, chunk.count)
      if count == 0 { break }
      if count > 0 { bytes += chunk[..<count] } else if errno != EINTR { return nil }
    }
    return bytes
  }

  /// Writes all bytes to an open file; returns whether it succeeded.
  @discardableResult
  package static func write(_ bytes: [UInt8], to file: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return false }
    }
    return true
  }

  /// Creates a folder and its parents, unless they exist.
  package static func makeDirectory(_ path: String) throws(FileError) {
    guard !isFolder(path) else { return }
    let parent = folder(of: path)
    if parent != path, !isFolder(parent) { try makeDirectory(parent) }
    guard mkdir(path, 0o700) != 0 else { return }
    let failure = errno
    // Another program may have created it meanwhile.
    guard isFolder(path) else {
      throw FileError("the folder \(path) cannot be created: \(String(cString: strerror(failure)))")
    }
  }

  /// Whether a path leads to a regular file.
  package static func isFile(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Whether a path exists, even as a broken symbolic link.
  package static func isThere(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// Returns the absolute form of a path; the path itself if the current folder is unknown.
  package static func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let here = getcwd(nil, 0) else { return path }
    defer { free(here) }
    return String(cString: here) + "/" + (path.hasPrefix("./") ? String(path.dropFirst(2)) : path)
  }

  /// Whether a path leads to a folder.
  package static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Whether a folder is empty; `false` if it cannot be read.
  static func isEmpty(folder: String) -> Bool {
    guard let folder = opendir(folder) else { return false }
    defer { closedir(folder) }
    // Skip `.` and `..`, which every folder contains.
    for _ in 0..<2 { _ = readdir(folder) }
    return readdir(folder) == nil
  }

  /// Returns the names in a folder, in any order; `nil` if it cannot be read.
  static func names(in folder: String) -> [String]? {
    guard let listing = opendir(folder) else { return nil }
    defer { closedir(listing) }
    var names: [String] = []
    while let entry = readdir(listing) {
      // Read in place: a copy would have 256 bytes, but the memory may end with the entry.
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  /// Returns the absolute path with symbolic links resolved; `nil` if it does not exist.
  static func resolved(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// Returns the part of a path before its last slash.
  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
