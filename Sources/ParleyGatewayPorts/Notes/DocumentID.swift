public import ParleyModel

/// The name of a document: an opaque text.
public struct DocumentID: ByteName {
  /// The id as it came.
  public let text: String

  /// Takes a text as an id.
  @inlinable
  public init(_ text: String) { self.text = text }
}
