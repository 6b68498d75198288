public import GatewayPorts

/// What a note is written as outside of a store.
public enum ExportFormat: String, CaseIterable, Sendable {
  /// The text, for a `.md` file.
  case markdown = "md"
  /// The text, for a `.txt` file. The same bytes as `markdown`.
  case text = "txt"
  /// One JSON object: title, times, revision and text.
  case json
  /// A JSON object on each line: the note, each entry of its log, and its named versions.
  case operations = "ops"
}

/// Why a note was not exported or imported.
public enum ExportError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The store did not do its part.
  case store(StoreError)
  /// What was to be imported is not what its format says, at this line, counted from 1.
  case malformed(line: Int, expected: String)

  /// What was expected, what came, what to do.
  public var description: String {
    switch self {
    case .store(.unknownDocument): "there is no such note; see the list of notes for its id"
    case .store(.exists): "a note with this id is there already; choose another id"
    case .store(let error): "the store could not do it: \(error)"
    case .malformed(let line, let expected): "line \(line): expected \(expected); nothing was kept"
    }
  }
}
