public import ParleyModel

/// The id of a document: an opaque text.
public struct DocumentID: ByteName {
  /// The text of the id.
  public let text: String

  /// Creates an id without checking the text.
  @inlinable
  public init(_ text: String) { self.text = text }
}
