/// The conversion of files to notes, one file at a time, without I/O: the caller reads the bytes
/// that the machine requests.
///
///     begin(…) ─▶ next() ─▶ read(offset, count) ─▶ supply(bytes) ─▶ next() ─▶ note … problem … done
///
/// All imports use these rules: the command `parley import` calls them directly, the page as
/// WebAssembly. It is total: any bytes result in notes or problems. A machine holds one file or one
/// entry of an archive at a time.
public struct ImportMachine: Sendable {
  /// The caller's next step.
  public enum Step: Sendable, Equatable {
    /// Read `count` bytes of the file from `offset` on, and ``supply(_:)`` them.
    case read(offset: Int64, count: Int)
    /// Create a note.
    case note(ImportedNote)
    /// Report that a file is not imported.
    case problem(path: String, ImportProblem)
    /// The file is complete; begin the next one.
    case done
  }

  fileprivate struct Archive {
    var path: String
    var size: Int64
    var entries: [ZipArchive.Entry] = []
    var index = 0
  }

  private enum State {
    /// Next: `file` or `tail`.
    case idle
    /// Waits for a whole file.
    case file(path: String, size: Int64)
    /// Waits for an archive's end, then for its directory.
    case tail(Archive)
    case directory(Archive, ZipArchive.End)
    /// Continues with the next entry.
    case between(Archive)
    /// Waits for an entry's header, then for its bytes.
    case head(Archive)
    case content(Archive, start: Int64)
  }

  private let limits: ImportLimits
  private var state = State.idle
  /// The steps to return next, in reverse order.
  private var ready: [Step] = []
  private var filesLeft: Int
  private var bytesLeft: Int64

  /// Starts an import.
  public init(limits: ImportLimits) {
    self.limits = limits
    filesLeft = limits.filesMax
    bytesLeft = limits.bytesMax
  }

  // MARK: Events

  /// Starts a file.
  ///
  /// - Parameters:
  ///   - path: The path of the file, with any separators.
  ///   - size: The size in bytes.
  public mutating func begin(path: String, size: Int64) {
    precondition(isIdle, "a file is begun when the former one is done")
    if FilePath.isNoise(path) { return }
    switch FilePath.kind(path) {
    case .zip: state = .tail(Archive(path: path, size: size))
    case .text, .pad, .other:
      do throws(ImportProblem) {
        try take(path, size: size)
        state = .file(path: path, size: size)
      } catch { refuse(path, error) }
    }
  }

  private var isIdle: Bool {
    if case .idle = state { return ready.isEmpty }
    return false
  }

  /// Supplies the bytes that ``Step/read(offset:count:)`` requested; fewer if the file is shorter
  /// now, `nil` if reading failed.
  public mutating func supply(_ bytes: [UInt8]?) {
    let former = state
    state = .idle
    switch former {
    case .idle, .between: preconditionFailure("bytes are supplied when they were asked for")
    case .file(let path, let size):
      guard let bytes, Int64(bytes.count) == size else { return refuse(path, .unreadable) }
      read(bytes, path: path, name: path)
    case .tail(let archive): take(archive, tail: bytes)
    case .directory(let archive, let end): take(archive, end, directory: bytes)
    case .head(let archive): take(archive, head: bytes)
    case .content(let archive, _):
      let entry = archive.entries[archive.index]
      state = .between(archive.next)
      do throws(ImportProblem) {
        guard let bytes else { throw .unreadable }
        read(
          try ZipArchive.content(of: entry, packed: bytes), path: path(of: entry, in: archive),
          name: entry.name)
      } catch { refuse(path(of: entry, in: archive), error) }
    }
  }

  /// Returns the next step.
  public mutating func next() -> Step {
    while ready.isEmpty, case .between(let archive) = state { proceed(archive) }
    if let step = ready.popLast() { return step }
    switch state {
    case .idle: return .done
    case .file(_, let size): return .read(offset: 0, count: Int(size))
    case .tail(let archive):
      let count = min(archive.size, Int64(ZipArchive.tailBytes))
      return .read(offset: archive.size - count, count: Int(count))
    case .directory(_, let end): return .read(offset: end.start, count: end.size)
    case .between: preconditionFailure("the loop above ends between no entries")
    case .head(let archive):
      return .read(offset: archive.entries[archive.index].offset, count: ZipArchive.headBytes)
    case .content(let archive, let start):
      return .read(offset: start, count: Int(archive.entries[archive.index].packed))
    }
  }

  // MARK: Archives

  private mutating func take(_ archive: Archive, tail: [UInt8]?) {
    do throws(ImportProblem) {
      guard let tail else { throw .unreadable }
      let start = max(0, archive.size - Int64(ZipArchive.tailBytes))
      state = .directory(archive, try ZipArchive.end(in: tail, at: start))
    } catch { refuse(archive.path, error) }
  }

  private mutating func take(_ archive: Archive, _ end: ZipArchive.End, directory: [UInt8]?) {
    do throws(ImportProblem) {
      guard let directory else { throw .unreadable }
      var archive = archive
      archive.entries = try files(in: archive, end, directory)
      state = .between(archive)
    } catch { refuse(archive.path, error) }
  }

  private mutating func take(_ archive: Archive, head: [UInt8]?) {
    let entry = archive.entries[archive.index]
    do throws(ImportProblem) {
      guard let head else { throw .unreadable }
      let start = try ZipArchive.start(of: entry, head: head)
      guard start + entry.packed <= archive.size else { throw .damaged }
      // Only an inconsistent entry has more packed bytes than this.
      guard entry.packed <= max(entry.size, 1 << 20) * 2 else { throw .damaged }
      state = .content(archive, start: start)
    } catch {
      state = .between(archive.next)
      refuse(path(of: entry, in: archive), error)
    }
  }

  /// Returns the files of an archive. The whole archive is checked before any file is read.
  private func files(
    in archive: Archive, _ end: ZipArchive.End, _ directory: [UInt8]
  ) throws(ImportProblem) -> [ZipArchive.Entry] {
    guard directory.count == end.size else { throw .damaged }
    let all = try ZipArchive.entries(in: directory, end, archiveSize: archive.size)
    let files = all.filter { !FilePath.isFolder($0.name) && !FilePath.isNoise($0.name) }
    var bytes: Int64 = 0
    for entry in files {
      switch FilePath.kind(entry.name) {
      case .text, .pad:
        guard !entry.isBomb else { throw .bomb }
        bytes += entry.size
      case .zip, .other: break
      }
    }
    guard files.count <= filesLeft else { throw .tooManyFiles(limit: limits.filesMax) }
    guard bytes <= bytesLeft else { throw .tooMuch(limit: Int(limits.bytesMax >> 20)) }
    return files
  }

  private mutating func proceed(_ archive: Archive) {
    guard archive.index < archive.entries.count else {
      state = .idle
      return
    }
    let entry = archive.entries[archive.index]
    do throws(ImportProblem) {
      guard FilePath.kind(entry.name) != .zip else { throw .archiveInArchive }
      try take(entry.name, size: entry.size)
      guard !entry.isEncrypted else { throw .encrypted }
      guard entry.method == 0 || entry.method == 8 else { throw .zipKind }
      state = .head(archive)
    } catch {
      state = .between(archive.next)
      refuse(path(of: entry, in: archive), error)
    }
  }

  private func path(of entry: ZipArchive.Entry, in archive: Archive) -> String {
    archive.path + "/" + entry.name
  }

  // MARK: Files

  /// Counts a file, and checks it against the limits before it is read.
  private mutating func take(_ name: String, size: Int64) throws(ImportProblem) {
    try takeFile()
    switch FilePath.kind(name) {
    case .other, .zip: throw .notANote
    case .pad: guard size <= Int64(ImportLimits.padBytesMax) else { throw tooLong }
    case .text: guard size <= limits.textBytesMax else { throw tooLong }
    }
    guard size <= bytesLeft else { throw .tooMuch(limit: Int(limits.bytesMax >> 20)) }
    bytesLeft -= size
  }

  private mutating func takeFile() throws(ImportProblem) {
    guard filesLeft > 0 else { throw .tooManyFiles(limit: limits.filesMax) }
    filesLeft -= 1
  }

  private var tooLong: ImportProblem { .tooLong(limit: limits.scalarsMax) }

  private mutating func refuse(_ path: String, _ problem: ImportProblem) {
    ready.insert(.problem(path: path, problem), at: 0)
  }

  private mutating func find(_ note: ImportedNote) throws(ImportProblem) {
    guard !note.text.contains(0) else { throw .notText }
    guard ImportedText.scalarCount(note.text) <= limits.scalarsMax else { throw tooLong }
    ready.insert(.note(note), at: 0)
  }

  /// Creates notes from a file's bytes.
  private mutating func read(_ bytes: [UInt8], path: String, name: String) {
    do throws(ImportProblem) {
      let text = try ImportedText.text(bytes)
      guard FilePath.kind(name) == .pad else {
        return try find(note(text, path: path, name: name, folder: name))
      }
      switch try EtherpadFile.content(of: text) {
      case .note(let title, let folder, let text):
        var found = note(ImportedText.whole(text), path: path, name: name, folder: "")
        found.folder = FilePath.folder(
          of: String(decoding: folder, as: UTF8.self) + "/note", under: limits.folder)
        // A title of Parley is not truncated: if it is too long, the server refuses the note.
        let own = ImportedTitle.clean(
          String(decoding: title, as: UTF8.self), bytesMax: .max, lettersMax: .max / 4)
        if !own.isEmpty { found.title = own }
        try find(found)
      case .pads(let pads):
        for (index, pad) in pads.enumerated() {
          if index > 0 { try takeFile() }
          try find(note(of: pad, path: path, name: name))
        }
      }
    } catch { refuse(path, error) }
  }

  private func note(_ text: [UInt8], path: String, name: String, folder: String) -> ImportedNote {
    ImportedNote(
      path: path,
      title: ImportedTitle.title(of: text, name: name, bytesMax: limits.titleBytesMax), text: text,
      folder: FilePath.folder(of: folder, under: limits.folder))
  }

  private func note(of pad: EtherpadFile.Pad, path: String, name: String) -> ImportedNote {
    let text = ImportedText.whole(pad.text)
    var found = note(text, path: path, name: "", folder: name)
    for other in [pad.name, FilePath.baseName(name)] where found.title.isEmpty {
      found.title = ImportedTitle.clean(other, bytesMax: limits.titleBytesMax)
    }
    found.pad = pad.origin
    return found
  }
}

extension ImportMachine.Archive {
  fileprivate var next: Self {
    var next = self
    next.index += 1
    return next
  }
}
