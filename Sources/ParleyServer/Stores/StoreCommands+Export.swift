package import ParleyGatewayPorts
import Glibc
package import ParleyStoreRecords

extension StoreCommands {
  /// Writes a note to a file, or to standard output.
  package func export(_ id: DocumentID, as format: ExportFormat, to file: String?) throws {
    let output = try file.map(OutputFile.init(path:)) ?? OutputFile.standard
    try write(id, as: format, with: noteExport(), to: output)
  }

  /// Writes every note to its own file in a folder that is empty or does not exist. Formats that
  /// cannot contain pictures and other files get them in the folder `files`, to which the texts
  /// refer.
  ///
  /// - Parameter report: Receives each note that could not be read, and why; other notes are
  ///   written.
  /// - Returns: The number of notes written, without notes that were deleted meanwhile.
  package func exportAll(
    as format: ExportFormat, to folder: String, report: (NoteSummary, ExportError) -> Void
  ) throws -> Int {
    let notes = try notes()
    try Files.makeDirectory(folder)
    guard Files.isEmpty(folder: folder) else {
      throw FileError("\(folder) is not empty; name a folder that is, or is not there yet")
    }
    // All folders are created first, so that a file's name avoids that of a folder.
    for note in notes { try Files.makeDirectory(Self.place(of: note, in: folder)) }
    let export = try noteExport()
    var names = ExportNames(ending: format.rawValue)
    var count = 0
    for note in notes {
      let path = names.unusedPath(for: note, in: Self.place(of: note, in: folder))
      do {
        // A note in a folder is below the folder of the files.
        let depth = note.folder.isNone ? 0 : note.folder.text.split(separator: "/").count
        try write(
          note.id, as: format, with: export, to: OutputFile(path: path),
          files: String(repeating: "../", count: depth) + "files/")
        if format != .operations { try exportFiles(of: note.id, with: export, to: folder) }
        count += 1
      } catch let error as ExportError {
        unlink(path)
        if error != .store(.unknownDocument) { report(note, error) }
      }
    }
    return count
  }

  private static func place(of note: NoteSummary, in folder: String) -> String {
    note.folder.isNone ? folder : "\(folder)/\(note.folder.text)"
  }

  private func noteExport() throws -> NoteExport {
    NoteExport(from: try configuration.repairableStore(writing: false))
  }

  private func write(
    _ id: DocumentID, as format: ExportFormat, with export: NoteExport, to output: OutputFile,
    files: String = "files/"
  ) throws {
    var failure: FileError?
    do throws(ExportError) {
      try export.export(id, as: format, files: files) { bytes in
        guard failure == nil else { return }
        do throws(FileError) { try output.write(bytes) } catch { failure = error }
      }
    } catch {
      try? output.close()
      throw error
    }
    if let failure { throw failure }
    try output.close()
  }

  /// Writes the files of a note below a folder, each content once.
  private func exportFiles(
    of id: DocumentID, with export: NoteExport, to folder: String
  ) throws {
    for file in try export.files(of: id) {
      let place = "\(folder)/files/\(file.hash)"
      let path = "\(place)/\(FileName.clean(file.name))"
      try Files.makeDirectory(place)
      guard !Files.isThere(path), let bytes = try export.content(of: file, in: id) else { continue }
      let output = try OutputFile(path: path)
      try output.write(bytes)
      try output.close()
    }
  }
}
