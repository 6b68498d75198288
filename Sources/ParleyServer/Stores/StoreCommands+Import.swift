package import ParleyGatewayPorts
import ParleyImporting
package import ParleyStoreRecords

import ParleyCryptoOpenSSL
import SocketMessages

/// The outcome of `parley import` for a file, or for a file in an archive.
package enum ImportOutcome {
  case made(NoteSummary)
  /// The store already contains a note with the same folder, title and text.
  case found(NoteSummary)
  case refused(any Error)
}

extension StoreCommands {
  /// Imports a file of a known format as a note; no server may be running.
  package func importNote(
    from file: String, as format: ExportFormat, title: String, author: String,
    folder: FolderPath = .none
  ) throws -> NoteSummary {
    let bytes = try Files.bytes(at: file, bytesMax: bytesMax(of: format))
    var details = details(title: title, author: author, folder: folder)
    var text = bytes
    // Positions of formatting hold for the text as it was exported.
    let isRich = format == .json && NoteImport.hasFormatting(bytes)
    if format != .operations, !isRich {
      let note = try onlyNote(in: bytes, as: format)
      text = note.text
      if format == .json {
        details.title = note.title
        if !note.folder.isEmpty { details.folder = FolderPath(stored: note.folder) }
      }
    }
    let plain: ExportFormat = format == .operations ? .operations : isRich ? .json : .text
    try Files.makeDirectory(configuration.dataDirectory)
    return try NoteImport(into: configuration.repairableStore(writing: true))
      .importNote(text, as: plain, details)
  }

  /// Returns the only note in a file's bytes. Its length is checked later, with the title.
  private func onlyNote(in bytes: [UInt8], as format: ExportFormat) throws -> ImportedNote {
    var limits = ImportLimits(scalarsMax: Int(Int32.max))
    limits.bytesMax = .max
    var machine = ImportMachine(limits: limits)
    machine.begin(path: "note." + format.rawValue, size: Int64(bytes.count))
    while true {
      switch machine.next() {
      case .read: machine.supply(bytes)
      case .note(let note): return note
      case .problem(_, let problem): throw problem
      case .done: throw ImportProblem.notANote
      }
    }
  }

  /// Imports a file, an archive, or a folder with its subfolders; no server may be running.
  ///
  /// Notes are committed in batches. Notes that an earlier run has imported are skipped, so an
  /// interrupted import can be repeated.
  ///
  /// - Parameters:
  ///   - isRepeatable: Whether files are skipped if the store contains their notes already.
  ///   - progress: Called with the number of files read so far, and the number of all files.
  ///   - report: Receives the outcome of each file.
  package func importAll(
    from root: String, author: String, folder: FolderPath, isRepeatable: Bool = true,
    progress: (Int, Int) -> Void = { _, _ in }, report: (String, ImportOutcome) -> Void
  ) throws {
    let isFolder = Files.isFolder(root)
    let files =
      isFolder ? try FolderOfFiles(root).files(endings: Self.endings) : [.init(only: root)]
    try Files.makeDirectory(configuration.dataDirectory)
    let store = try configuration.repairableStore(writing: true)
    var batch = ImportBatch(
      into: store, finding: isRepeatable ? try EarlierNotes(in: store) : nil)
    var limits = ImportLimits(scalarsMax: configuration.documentScalarsMax)
    limits.titleBytesMax = configuration.limits.titleBytesMax
    limits.folder = folder.text
    // A folder has no limit, since it belongs to the operator; an archive within it has the usual
    // ones.
    if isFolder { (limits.filesMax, limits.bytesMax) = (files.count + 100_000, .max) }
    var machine = ImportMachine(limits: limits)
    for (index, file) in files.enumerated() {
      progress(index, files.count)
      if file.ending == ExportFormat.operations.rawValue {
        importLog(file, author: author, under: folder, &batch, report)
      } else {
        importFile(file, author: author, &machine, &batch, report)
      }
    }
    batch.commit(report)
    progress(files.count, files.count)
  }

  /// The endings of files that can be imported.
  private static let endings = [
    "md", "markdown", "txt", "text", "json", "etherpad", "zip", ExportFormat.operations.rawValue,
  ]

  private func importFile(
    _ file: FolderOfFiles.File, author: String, _ machine: inout ImportMachine,
    _ batch: inout ImportBatch, _ report: (String, ImportOutcome) -> Void
  ) {
    let ranges: FileRanges
    do {
      ranges = try FileRanges(file.path)
    } catch { return report(file.path, .refused(error)) }
    machine.begin(path: file.name, size: ranges.size)
    while true {
      switch machine.next() {
      case .read(let offset, let count): machine.supply(ranges.read(at: offset, count))
      case .problem(let path, let problem): report(file.place(of: path), .refused(problem))
      case .note(let note):
        let title = note.title.isEmpty ? "Untitled" : note.title
        var details = details(
          title: title, author: author, folder: FolderPath(stored: note.folder))
        details.textScalarsMax = .max
        batch.add(file.place(of: note.path), report) { () throws(ExportError) in
          try NoteImport.draft(note.text, as: .text, details)
        }
      case .done: return
      }
    }
  }

  private func importLog(
    _ file: FolderOfFiles.File, author: String, under root: FolderPath,
    _ batch: inout ImportBatch, _ report: (String, ImportOutcome) -> Void
  ) {
    do {
      let bytes = try Files.bytes(at: file.path, bytesMax: bytesMax(of: .operations))
      let place = FilePath.folder(of: file.name, under: root.text)
      let title = FilePath.baseName(file.name)
      let details = details(title: title, author: author, folder: FolderPath(stored: place))
      batch.add(file.path, report) { () throws(ExportError) in
        try NoteImport.draft(bytes, as: .operations, details)
      }
    } catch { report(file.path, .refused(error)) }
  }

  /// Returns the maximum size of a file: the largest that a valid note can need.
  private func bytesMax(of format: ExportFormat) -> Int {
    switch format {
    case .markdown, .text: 4 * configuration.documentScalarsMax + (1 << 20)
    // JSON may encode a character as two escapes of six bytes.
    case .json, .html: 12 * configuration.documentScalarsMax + (1 << 20)
    // A whole history, with its pictures.
    case .operations: 4 << 30
    }
  }

  private func details(title: String, author: String, folder: FolderPath) -> NoteImport.Details {
    let names = RandomNames()
    var details = NoteImport.Details(
      id: DocumentID(names.next()), epoch: Epoch(names.next()), title: title, author: author,
      time: SystemClock().now, titleBytesMax: configuration.limits.titleBytesMax,
      textScalarsMax: configuration.documentScalarsMax)
    details.folder = folder
    return details
  }
}
