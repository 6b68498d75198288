public import ParleyGatewayPorts

/// A file format of notes outside a store.
public enum ExportFormat: String, CaseIterable, Sendable {
  /// The text, for a `.md` file.
  case markdown = "md"
  /// The text, for a `.txt` file. The same bytes as `markdown`.
  case text = "txt"
  /// A JSON object: title, times, revision and text.
  case json
  /// A JSON object on each line: the note, each entry of its log, and its named versions.
  case operations = "ops"
}

/// The reason why a note was not exported or imported.
public enum ExportError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A request to the store has failed.
  case store(StoreError)
  /// The file is malformed in this line, counted from 1.
  case malformed(line: Int, expected: String)
  /// The title is longer than the maximum, in bytes of UTF-8.
  case titleTooLong(bytes: Int, max: Int)
  /// The text is longer than the maximum, in Unicode scalars.
  case textTooLong(characters: Int, max: Int)

  /// The expected value, the actual value, and the remedy.
  public var description: String {
    switch self {
    case .store(.unknownDocument): "no note has this id; the list of notes has the ids"
    case .store(.exists): "a note with this id is there already; choose another id"
    case .store(let error): "the store could not do it: \(error)"
    case .malformed(let line, let expected):
      "line \(line): expected \(expected); nothing was stored"
    case .titleTooLong(let bytes, let max):
      "expected a title of at most \(max) bytes (title-size-max), got \(bytes); nothing was stored; "
        + "shorten it, or raise the setting"
    case .textTooLong(let characters, let max):
      "expected a text of at most \(max) characters (document-length-max), got \(characters); "
        + "nothing was stored; split it, or raise the setting"
    }
  }
}
