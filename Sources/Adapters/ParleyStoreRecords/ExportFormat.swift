public import ParleyGatewayPorts

/// A file format of notes outside a store.
public enum ExportFormat: String, CaseIterable, Sendable {
  /// Markdown, for a `.md` file: the text of a plain note, and the form of a rich one.
  case markdown = "md"
  /// The text, for a `.txt` file. That of a plain note has the same bytes as `markdown`.
  case text = "txt"
  /// An HTML document. It is not imported.
  case html
  /// A JSON object: title, times, revision, text and its formatting.
  case json
  /// A JSON object on each line: the note, each entry of its log, and its named versions.
  case operations = "ops"

  /// The formats that can be imported.
  public static let imported: [ExportFormat] = allCases.filter { $0 != .html }
}

/// The reason why a note was not exported or imported.
public enum ExportError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A request to the store has failed.
  case store(StoreError)
  /// This form of the text is longer than the maximum, in bytes.
  case formTooLarge(bytesMax: Int)
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
    case .formTooLarge(let bytesMax):
      "this form of the text has more than \(bytesMax) bytes; export it as txt or json"
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
