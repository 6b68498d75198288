#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The attributes of a note's text in an `AttributedString`, with the names of ``NoteDelta``.
public enum NoteAttributesKey: AttributedStringKey {
  /// The attributes of a run.
  public typealias Value = NoteAttributes
  /// The key's name.
  public static let name = "parley.note"
}

extension NoteDelta {
  /// The text with its formatting: all of a note's attributes are in ``NoteAttributesKey``. On
  /// Apple's systems, bold, italic, code, strikethrough and links also have Foundation's attributes,
  /// which SwiftUI shows. An embedded thing is U+FFFC.
  public var attributedString: AttributedString {
    var result = AttributedString()
    for operation in operations {
      switch operation {
      case .insert(let text, let attributes):
        result += AttributedString(text, of: attributes)
      case .embed(_, _, let attributes):
        result += AttributedString("\u{fffc}", of: attributes)
      case .retain, .delete: break
      }
    }
    return result
  }
}

extension AttributedString {
  fileprivate init(_ text: String, of attributes: NoteAttributes) {
    self.init(text)
    guard !attributes.isEmpty else { return }
    self[NoteAttributesKey.self] = attributes
    #if !canImport(FoundationEssentials)
      var intent: InlinePresentationIntent = []
      if attributes["bold"] == .set { intent.insert(.stronglyEmphasized) }
      if attributes["italic"] == .set { intent.insert(.emphasized) }
      if attributes["code"] == .set { intent.insert(.code) }
      if attributes["strike"] == .set { intent.insert(.strikethrough) }
      if !intent.isEmpty { inlinePresentationIntent = intent }
      if case .text(let address)? = attributes["link"] { link = URL(string: address) }
    #endif
  }
}
