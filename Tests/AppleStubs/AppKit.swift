// swift-format-ignore-file
// Declarations of AppKit that this package's views use, written by hand from its documentation, so that
// `make apple-check` finds misspelt names, wrong arguments and broken isolation on Linux. Nothing runs.
@_exported import Foundation

open class UndoManager: NSObject, @unchecked Sendable {
  public override init() {}
  open func disableUndoRegistration() {}
  open var canUndo: Bool { false }
  open var canRedo: Bool { false }
  open func undo() {}
  open func redo() {}
}

public struct NSTextStorageEditActions: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
  public static let editedAttributes = NSTextStorageEditActions(rawValue: 1)
  public static let editedCharacters = NSTextStorageEditActions(rawValue: 2)
}
open class NSTextStorage: NSMutableAttributedString {
  public convenience init() { self.init(string: "") }
  @MainActor open weak var delegate: (any NSTextStorageDelegate)?
  open func addLayoutManager(_ manager: NSLayoutManager) {}
}
@MainActor public protocol NSTextStorageDelegate: NSObjectProtocol {
  func textStorage(
    _ textStorage: NSTextStorage, didProcessEditing editedMask: NSTextStorageEditActions,
    range editedRange: NSRange, changeInLength delta: Int)
}
@MainActor open class NSTextContainer: NSObject {
  public init(size: NSSize) {}
  open var widthTracksTextView = false
}
@MainActor open class NSLayoutManager: NSObject {
  open func addTextContainer(_ container: NSTextContainer) {}
  open func glyphRange(
    forCharacterRange range: NSRange, actualCharacterRange: UnsafeMutablePointer<NSRange>?
  ) -> NSRange { range }
  open func boundingRect(forGlyphRange range: NSRange, in container: NSTextContainer) -> NSRect {
    .zero
  }
  open func enumerateEnclosingRects(
    forGlyphRange range: NSRange, withinSelectedGlyphRange selected: NSRange,
    in container: NSTextContainer,
    using block: (NSRect, UnsafeMutablePointer<Bool>) -> Void
  ) {}
}

extension NSRect {
  public func fill() {}
}
extension NSAttributedString.Key {
  public static let font = Self(rawValue: "font")
  public static let foregroundColor = Self(rawValue: "foregroundColor")
  public static let backgroundColor = Self(rawValue: "backgroundColor")
}
extension NSAttributedString {
  public func size() -> NSSize { .zero }
  public func draw(at point: NSPoint) {}
}

@MainActor open class NSResponder: NSObject {
  open var undoManager: UndoManager? { nil }
}
@MainActor open class NSView: NSResponder {
  public struct AutoresizingMask: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let width = AutoresizingMask(rawValue: 2)
  }
  public init(frame: NSRect) {}
  public required init?(coder: NSCoder) { nil }
  open var needsDisplay = false
  open var visibleRect: NSRect { .zero }
  open var autoresizingMask: AutoresizingMask = []
  open func draw(_ dirtyRect: NSRect) {}
}
open class NSScrollView: NSView {
  public convenience init() { self.init(frame: .zero) }
  open var hasVerticalScroller = false
  open var documentView: NSView?
}
open class NSText: NSView {
  open func paste(_ sender: Any?) {}
  open var isRichText = true
  open var isEditable = true
  open var isVerticallyResizable = true
  open var font: NSFont?
}
@MainActor public protocol NSTextDelegate: NSObjectProtocol {
  func textDidChange(_ notification: Notification)
  func textDidEndEditing(_ notification: Notification)
}
@MainActor public protocol NSTextViewDelegate: NSTextDelegate {
  func textViewDidChangeSelection(_ notification: Notification)
}
open class NSTextView: NSText {
  public init(frame: NSRect, textContainer: NSTextContainer?) { super.init(frame: frame) }
  public required init?(coder: NSCoder) { nil }
  open weak var delegate: (any NSTextViewDelegate)?
  open var allowsUndo = false
  open var layoutManager: NSLayoutManager? { nil }
  open var textContainer: NSTextContainer? { nil }
  open var textContainerOrigin: NSPoint { .zero }
  open var typingAttributes: [NSAttributedString.Key: Any] = [:]
  open func hasMarkedText() -> Bool { false }
  open func selectedRange() -> NSRange { NSRange() }
  open func setSelectedRange(_ range: NSRange) {}
}
open class NSFont: NSObject {
  public class var systemFontSize: CGFloat { 13 }
  public class var smallSystemFontSize: CGFloat { 11 }
  public class func systemFont(ofSize size: CGFloat) -> NSFont { NSFont() }
}
open class NSColor: NSObject, @unchecked Sendable {
  public init(srgbRed: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {}
  public class var black: NSColor { fatalError() }
  public class var white: NSColor { fatalError() }
  public func withAlphaComponent(_ alpha: CGFloat) -> NSColor { self }
  public func setFill() {}
}
