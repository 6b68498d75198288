import Glibc

/// A test's temporary folder, which is removed with its contents when the test releases it.
final class TemporaryFolder {
  let path: String

  /// - Parameter isInMemory: Whether the folder may be in memory, where syncs cost nothing, because
  ///   the test observes the disk by other means.
  init(isInMemory: Bool = false) throws {
    let parent = isInMemory && access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
    var template = Array((parent + "/parley-store-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else { throw FileProblem(code: errno) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    for name in names { unlink(path + "/" + name) }
    rmdir(path)
  }

  /// Returns the path of a file in the folder.
  func file(_ name: String = "notes.parley") -> String { path + "/" + name }

  /// The names of all files in the folder.
  var names: [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }
}

/// A file that could not be created, read or written.
struct FileProblem: Error {
  let code: Int32
}

/// Returns a file's bytes.
func readFile(_ path: String) throws -> [UInt8] {
  let descriptor = open(path, O_RDONLY)
  guard descriptor >= 0 else { throw FileProblem(code: errno) }
  defer { close(descriptor) }
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 65_536)
  while true {
    let count = read(descriptor, &buffer, buffer.count)
    guard count >= 0 else { throw FileProblem(code: errno) }
    if count == 0 { return bytes }
    bytes.append(contentsOf: buffer[..<count])
  }
}

/// Writes a file, replacing an existing one.
func writeFile(_ path: String, _ bytes: [UInt8]) throws {
  let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
  guard descriptor >= 0 else { throw FileProblem(code: errno) }
  defer { close(descriptor) }
  var start = 0
  while start < bytes.count {
    let count = bytes[start...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    guard count > 0 else { throw FileProblem(code: errno) }
    start += count
  }
}

/// Removes a file if it exists.
func removeFile(_ path: String) { unlink(path) }
