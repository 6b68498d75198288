import Glibc

extension Files {
  /// Replaces a text file atomically: even after a crash, it contains the old text or the new one.
  ///
  /// An existing file keeps its owner; a new file created by root gets the owner of its folder.
  ///
  /// - Parameter isSecret: Whether only the owner may read the file; the group may too if it could
  ///   read the existing file.
  static func replace(
    _ path: String, with text: String, isNew: Bool, isSecret: Bool = true
  ) throws(FileError) {
    let new = path + ".new"
    unlink(new)
    let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw failure(path) }
    var (isOpen, isInPlace) = (true, false)
    defer {
      if isOpen { close(file) }
      // After the rename, another writer may have created a file with this name.
      if !isInPlace { unlink(new) }
    }
    guard write(Array(text.utf8), to: file) else { throw failure(path) }
    try takeOwner(file, of: path, isNew: isNew)
    try takeMode(file, of: path, isNew: isNew, isSecret: isSecret)
    guard fsync(file) == 0 else { throw failure(path) }
    isOpen = false
    guard close(file) == 0, rename(new, path) == 0 else { throw failure(path) }
    isInPlace = true
    syncFolder(of: path)
  }

  /// Gives a file the owner of the file that it replaces; for a new file, of its folder.
  private static func takeOwner(_ file: Int32, of path: String, isNew: Bool) throws(FileError) {
    var model = stat()
    guard stat(isNew ? folder(of: path) : path, &model) == 0 else { throw failure(path) }
    if isNew {
      if geteuid() == 0, fchown(file, model.st_uid, model.st_gid) != 0 { throw failure(path) }
      return
    }
    var own = stat()
    guard fstat(file, &own) == 0 else { throw failure(path) }
    if own.st_uid != model.st_uid || own.st_gid != model.st_gid {
      guard fchown(file, model.st_uid, model.st_gid) == 0 else {
        throw FileError(
          "\(path) belongs to another user, who could not read it afterwards; run this as that user"
        )
      }
    }
  }

  private static func takeMode(
    _ file: Int32, of path: String, isNew: Bool, isSecret: Bool
  ) throws(FileError) {
    var mode: mode_t = isSecret ? 0o600 : 0o644
    if !isNew {
      var model = stat()
      guard stat(path, &model) == 0 else { throw failure(path) }
      mode = isSecret ? 0o600 | model.st_mode & 0o040 : model.st_mode & 0o777
    }
    guard fchmod(file, mode) == 0 else { throw failure(path) }
  }

  /// Syncs the folder of a file; returns whether it succeeded.
  @discardableResult
  static func syncFolder(of path: String) -> Bool {
    let folder = open(folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return false }
    defer { close(folder) }
    return fsync(folder) == 0
  }

  private static func failure(_ path: String) -> FileError {
    FileError("\(path) cannot be written: \(String(cString: strerror(errno)))")
  }
}
