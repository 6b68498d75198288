public import OTCore

/// A kind of note. It says what a note contains beside its text; every client can read and change the text.
public enum NoteKind: Sendable, CaseIterable {
  /// A text alone, such as Markdown.
  case plain
}

/// The content of a note at a revision: its text, and what notes of its kind have beside it.
///
/// Stores, history and gateway read, change and compare contents by these functions alone, so a kind of note is
/// added here. The text is the same for all kinds, and positions in a note are positions of its text.
public struct NoteContent: Sendable, Equatable {
  /// The text.
  public private(set) var text: Document

  /// The content of a plain note.
  public init(_ text: Document) { self.text = text }

  /// The content of a plain note.
  public init(_ text: String = "") { self.text = Document(text) }

  /// The kind of note that it is the content of.
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
  /// - Throws: If the operation does not fit the text. Nothing has changed then.
  public mutating func apply(_ operation: TextOperation) throws(OperationError) {
    try text.apply(operation)
  }

  /// The change that gives the content another text. What both texts have at the beginning and the end stays as
  /// it is.
  public func change(toText other: String) -> TextOperation {
    TextOperation(replacing: text, by: other)
  }

  /// The change that makes it equal to another content.
  public func change(to other: NoteContent) -> TextOperation { change(toText: other.text.text) }
}
