import ParleyJSON
public import OTCore
public import ParleyModel

/// The formatting of a change or of a whole text in its JSON form. It is checked against its
/// operation or text when it is read.
///
/// Clients that know only text neither send nor receive it.
public struct FormatJSON: Sendable, Equatable {
  /// The bytes, which are valid JSON.
  public let utf8: [UInt8]

  private init(trusted utf8: [UInt8]) { self.utf8 = utf8 }

  /// Writes the formatting of a change.
  public init(_ format: ChangeFormat) {
    var json: [UInt8] = []
    format.appendJSON(to: &json)
    utf8 = json
  }

  /// Writes the attributes of a text.
  public init(of document: RichDocument) {
    var json: [UInt8] = []
    document.appendFormatJSON(to: &json)
    utf8 = json
  }

  /// Reads the formatting of a change from a server; `nil` if it has no effect.
  ///
  /// - Parameter setsMax: Maximum sets; a server may send more than it accepts.
  /// - Throws: As `ChangeFormat.init(json:of:setsMax:)`.
  public func changeFormat(
    of operation: TextOperation, setsMax: Int = .max
  ) throws(OperationError) -> ChangeFormat? {
    try ChangeFormat(json: utf8, of: operation, setsMax: setsMax)
  }

  /// Reads the attributes of a text.
  ///
  /// - Throws: As `RichDocument.init(_:formatJSON:)`.
  public func document(of text: Document) throws(OperationError) -> RichDocument {
    try RichDocument(text, formatJSON: utf8)
  }
}

extension FormatJSON: MessageForm {
  static func read(_ fields: inout MessageFields) throws(JSONError) -> FormatJSON? {
    FormatJSON(trusted: try fields.reader.value().utf8)
  }
  func write(_ fields: inout MessageFields) { fields.buffer.append(contentsOf: utf8) }
}

extension NoteKind: MessageWord {
  #if hasFeature(Embedded)
    @inline(__always) static var isSent: Bool { false }
  #endif
}

extension ClientMessage.Change {
  /// Creates a change of a note with formatting.
  public init(
    documentID: String, epoch: String, revision: Int, sequence: Int, operation: RichOperation
  ) {
    self.init(
      documentID: documentID, epoch: epoch, revision: revision, sequence: sequence,
      operation: operation.text, format: operation.changeFormat.map { FormatJSON($0) })
  }
}

#if !hasFeature(Embedded)
  extension ClientMessage.Change {
    /// Reads the formatting of the change.
    ///
    /// - Throws: `badOperation` or `tooLarge`, naming the change.
    public func checkedFormat() throws(MessageError) -> ChangeFormat? {
      do throws(OperationError) {
        return try format?.changeFormat(of: operation, setsMax: Format.setsMax)
      } catch {
        throw MessageError(error, rejectedChange)
      }
    }
  }

  extension MessageError {
    /// - Parameter change: The change whose format could not be read.
    init(_ error: OperationError, _ change: RejectedChange?) {
      switch error {
      case .tooLong, .tooManySets, .tooManyRuns, .tooManyKeys:
        self.init(
          .tooLarge,
          "change, field format: a change may have \(Format.setsMax) sets of attributes, and lengths "
            + "up to \(TextOperation.lengthMax); send it in smaller pieces")
      case .malformed(let offset):
        self.init(
          .badOperation,
          "change, field format: expected formatting that fits the operation, with known set "
            + "numbers; see byte \(offset) of it")
      case .invalidUTF8(let offset):
        self.init(
          .badOperation, "change, field format: byte \(offset) of it is not UTF-8")
      case .lengthMismatch(let expected, let found):
        self.init(
          .badOperation,
          "change, field format: expected formatting of \(expected) scalars, not of \(found)")
      }
      self.change = change
    }
  }
#endif
