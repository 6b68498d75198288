public import OTCore

/// The content of a note at a revision: its text, and what its kind adds.
///
/// Stores, history and gateway access contents only through these functions, so a further kind of
/// note is implemented here. All kinds have a text, and positions in a note are positions in it.
public struct NoteContent: Sendable, Equatable {
  /// The text.
  public private(set) var text: Document

  /// Creates the content of a plain note.
  public init(_ text: Document) { self.text = text }

  /// Creates the content of a plain note.
  public init(_ text: String = "") { self.text = Document(text) }

  /// The kind of note.
  public var kind: NoteKind { .plain }

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
  public mutating func apply(_ operation: TextOperation) throws(OperationError) {
    try text.apply(operation)
  }

  /// Returns the operation that replaces the text, except the common start and end of both texts.
  public func change(toText other: String) -> TextOperation {
    TextOperation(replacing: text, by: other)
  }

  /// Returns the operation that makes the content equal to another.
  public func change(to other: NoteContent) -> TextOperation { change(toText: other.text.text) }
}
