import Glibc

/// The files in a folder and its subfolders, for an import.
///
/// Hidden files and symbolic links are skipped; a link could lead outside of the folder.
struct FolderOfFiles {
  /// A file that may be imported as a note.
  struct File {
    /// The path for opening the file.
    let path: String
    /// The path relative to the root.
    let name: String
    /// The file ending, in lower case.
    let ending: String

    init(path: String, name: String) {
      (self.path, self.name) = (path, name)
      ending = Self.ending(of: name)
    }

    /// Creates a file that is imported alone; its folder does not become the note's folder.
    init(only path: String) {
      self.init(
        path: path,
        name: path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path)
    }

    static func ending(of name: String) -> String {
      name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
    }

    /// Returns the path of a file in an archive, for reports.
    func place(of found: String) -> String { path + found.dropFirst(name.count) }
  }

  /// Maximum files of one import, and maximum depth of folders.
  private static let filesMax = 100_000
  private static let depthMax = 32

  private let root: String

  init(_ root: String) { self.root = root.hasSuffix("/") ? String(root.dropLast()) : root }

  /// Returns the files with one of the endings, sorted by path in each folder.
  func files(endings: [String]) throws(FileError) -> [File] {
    var found: [File] = []
    try walk("", endings, depth: 0, into: &found)
    return found
  }

  private func walk(
    _ folder: String, _ endings: [String], depth: Int, into found: inout [File]
  ) throws(FileError) {
    let path = folder.isEmpty ? root : "\(root)/\(folder)"
    guard depth < Self.depthMax else {
      throw FileError("\(path) is more than \(Self.depthMax) folders deep; import it separately")
    }
    for (name, isFolder) in try entries(of: path) {
      if isFolder {
        let below = folder.isEmpty ? name : "\(folder)/\(name)"
        try walk(below, endings, depth: depth + 1, into: &found)
        continue
      }
      guard endings.contains(File.ending(of: name)) else { continue }
      guard found.count < Self.filesMax else {
        throw FileError(
          "\(root) has more than \(Self.filesMax) files; import its folders one by one")
      }
      found.append(
        File(path: "\(path)/\(name)", name: folder.isEmpty ? name : "\(folder)/\(name)"))
    }
  }

  /// Returns the files and folders in a folder, sorted by name.
  private func entries(of path: String) throws(FileError) -> [(name: String, isFolder: Bool)] {
    guard let names = Files.names(in: path) else {
      throw FileError("\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
    var entries: [(name: String, isFolder: Bool)] = []
    for name in names where !name.hasPrefix(".") {
      var status = stat()
      guard lstat("\(path)/\(name)", &status) == 0 else {
        // For example, a name that is not UTF-8. Opening the file later reports the error.
        entries.append((name, false))
        continue
      }
      switch status.st_mode & S_IFMT {
      case S_IFDIR: entries.append((name, true))
      case S_IFREG: entries.append((name, false))
      default: break
      }
    }
    return entries.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }
}
