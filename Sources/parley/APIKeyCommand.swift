import ParleyCryptoOpenSSL
import Glibc

/// The command `parley apikey`, which creates an API key.
enum APIKeyCommand {
  /// Prints a new key. With `--file`, appends its line to the file; otherwise prints the line too.
  static func run(_ arguments: [String]) throws {
    var words = arguments
    var file: String?
    if let index = words.firstIndex(of: "--file") {
      guard index + 1 < words.count else { throw UsageError("--file needs a value") }
      file = words[index + 1]
      words.removeSubrange(index...(index + 1))
    }
    guard let name = words.first, !name.hasPrefix("--"),
      name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) })
    else { throw UsageError("expected a name of letters, digits, '-', '_' and '.'") }
    let key = HashedAPIKeys.newKey()
    let line: String
    do throws(APIKeyFileError) {
      line = try HashedAPIKeys.line(
        name: name, key: key, isOperator: words.dropFirst().contains("operator"),
        rights: words.dropFirst().filter { $0 != "operator" })
    } catch { throw UsageError("\(error)") }
    guard let file else {
      Terminal.output("key   \(key)\nline  \(line)\n")
      return
    }
    guard append(line, to: file) else {
      throw CommandFailure("\(file) cannot be written: \(String(cString: strerror(errno)))")
    }
    Terminal.output("\(key)\n")
  }

  private static func append(_ line: String, to path: String) -> Bool {
    let file = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { return false }
    defer { close(file) }
    // An editor may have omitted the newline of the last line.
    var last: UInt8 = UInt8(ascii: "\n")
    let size = lseek(file, 0, SEEK_END)
    if size > 0 { pread(file, &last, 1, size - 1) }
    let bytes = Array(((last == UInt8(ascii: "\n") ? "" : "\n") + line + "\n").utf8)
    return write(file, bytes, bytes.count) == bytes.count && fsync(file) == 0
  }
}
