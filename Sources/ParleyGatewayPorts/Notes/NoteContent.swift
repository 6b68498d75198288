public import OTCore

/// The content of a note at a revision: its text with attributes. A plain note has none.
///
/// Stores, history and gateway access contents only through these functions, so a further kind of
/// note is implemented here. All kinds have a text, and positions in a note are positions in it.
public struct NoteContent: Sendable, Equatable {
  /// The text with its attributes.
  public private(set) var document: RichDocument

  /// Creates a content.
  public init(_ document: RichDocument) { self.document = document }

  /// Creates the content of a plain note.
  public init(_ text: Document) { document = RichDocument(text) }

  /// Creates the content of a plain note.
  public init(_ text: String = "") { self.init(Document(text)) }

  /// The text.
  public var text: Document { document.text }

  /// The JSON form of the attributes; empty if there are none.
  ///
  /// - Complexity: O(*runs*).
  public var formatJSON: [UInt8] {
    var json: [UInt8] = []
    if document.hasAttributes { document.appendFormatJSON(to: &json) }
    return json
  }

  /// The text in UTF-8.
  ///
  /// - Complexity: O(*n*).
  public var utf8: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8Count)
    text.forEachChunk { bytes.append(contentsOf: $0) }
    return bytes
  }

  /// Changes the content.
  ///
  /// - Throws: The reason why the operation does not fit the text. The content is then unchanged.
  public mutating func apply(
    _ operation: TextOperation, _ format: ChangeFormat? = nil
  ) throws(OperationError) {
    if format?.format == nil { return try document.apply(operation) }
    try document.apply(RichOperation(operation, format))
  }

  /// Returns the operation that replaces the text, except the common start and end of both texts.
  /// In a text with attributes it is the difference in lines and words, so that the attributes of
  /// common text remain.
  public func change(toText other: String) -> TextOperation {
    document.hasAttributes
      ? TextOperation(changing: text, into: Document(other))
      : TextOperation(replacing: text, by: other)
  }

  /// Returns the operation that makes the content equal to another.
  public func change(to other: NoteContent) -> RichOperation {
    document.hasAttributes || other.document.hasAttributes
      ? RichOperation(changing: document, into: other.document)
      : RichOperation(change(toText: other.text.text))
  }
}
