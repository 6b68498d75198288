import Glibc

/// Files for one test, gone with it.
final class TemporaryFiles {
  private let folder: String
  private var names: Set<String> = []

  init() {
    var template = Array("/tmp/parley-keys-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { fatalError("no folder could be made in /tmp") }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    for name in names { unlink(folder + "/" + name) }
    rmdir(folder)
  }

  /// Writes a file as editors and secret stores do: beside it, then in its place.
  @discardableResult
  func write(_ text: String, to name: String) -> String {
    let path = folder + "/" + name
    guard let file = fopen(path + ".new", "w") else { fatalError("\(path) cannot be written") }
    fputs(text, file)
    fclose(file)
    rename(path + ".new", path)
    names.insert(name)
    return path
  }
}
