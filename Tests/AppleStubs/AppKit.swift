// swift-format-ignore-file
// Declarations of AppKit that this package's views use, for `make apple-check` on Linux. README.md says how they are
// written. Nothing runs.
// unverified: members of UndoManager and NSFont, keys of NSAttributedString but for font and colours
@_exported import Foundation

// https://developer.apple.com/documentation/foundation/undomanager · macOS 10.0, iOS 3.0 · read 2026-11-29
@MainActor open class UndoManager: NSObject {
  public override init() {}
  open func disableUndoRegistration() {}
  open var canUndo: Bool { false }
  open var canRedo: Bool { false }
  open func undo() {}
  open func redo() {}
}

// https://developer.apple.com/documentation/appkit/nstextstorageeditactions · macOS 10.11 · read 2026-11-29
public struct NSTextStorageEditActions: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
  public static let editedAttributes = NSTextStorageEditActions(rawValue: 1)
  public static let editedCharacters = NSTextStorageEditActions(rawValue: 2)
}
// https://developer.apple.com/documentation/appkit/nstextstorage · macOS 10.0 · read 2026-11-29
open class NSTextStorage: NSMutableAttributedString {
  public convenience init() { self.init(string: "") }
  open weak var delegate: (any NSTextStorageDelegate)?
  open func addLayoutManager(_ aLayoutManager: NSLayoutManager) {}
}
// https://developer.apple.com/documentation/appkit/nstextstoragedelegate · macOS 10.11 · read 2026-11-29
public protocol NSTextStorageDelegate: NSObjectProtocol {
  func textStorage(
    _ textStorage: NSTextStorage, didProcessEditing editedMask: NSTextStorageEditActions,
    range editedRange: NSRange, changeInLength delta: Int)
}
// https://developer.apple.com/documentation/appkit/nstextcontainer · macOS 10.0; init(size:) 10.11 · read 2026-11-29
open class NSTextContainer: NSObject {
  public init(size: CGSize) {}
  open var widthTracksTextView = false
}
// https://developer.apple.com/documentation/appkit/nslayoutmanager · macOS 10.0; enumerateEnclosingRects 10.11 · read 2026-11-29
open class NSLayoutManager: NSObject {
  open func addTextContainer(_ container: NSTextContainer) {}
  open func glyphRange(
    forCharacterRange charRange: NSRange, actualCharacterRange actualCharRange: UnsafeMutablePointer<NSRange>?
  ) -> NSRange { charRange }
  open func glyphRange(forBoundingRect bounds: NSRect, in container: NSTextContainer) -> NSRange { NSRange() }
  open func characterRange(
    forGlyphRange glyphRange: NSRange, actualGlyphRange: UnsafeMutablePointer<NSRange>?
  ) -> NSRange { glyphRange }
  open func boundingRect(forGlyphRange glyphRange: NSRange, in container: NSTextContainer) -> NSRect { .zero }
  open func enumerateEnclosingRects(
    forGlyphRange glyphRange: NSRange, withinSelectedGlyphRange selectedRange: NSRange,
    in textContainer: NSTextContainer, using block: @escaping (NSRect, UnsafeMutablePointer<Bool>) -> Void
  ) {}
}

// unverified: NSRect.fill()
extension NSRect {
  public func fill() {}
}
// https://developer.apple.com/documentation/foundation/nsattributedstring/key · iOS 2.0, macOS 10.0 · read 2026-11-29
extension NSAttributedString.Key {
  public static let font = Self(rawValue: "font")
  public static let foregroundColor = Self(rawValue: "foregroundColor")
  public static let backgroundColor = Self(rawValue: "backgroundColor")
  public static let obliqueness = Self(rawValue: "obliqueness")
  public static let underlineStyle = Self(rawValue: "underlineStyle")
  public static let strikethroughStyle = Self(rawValue: "strikethroughStyle")
}
// unverified: NSUnderlineStyle
public struct NSUnderlineStyle: OptionSet, Sendable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }
  public static let single = NSUnderlineStyle(rawValue: 1)
}
// https://developer.apple.com/documentation/foundation/nsattributedstring/draw(at:) · macOS 10.0 · read 2026-11-29
extension NSAttributedString {
  public func size() -> NSSize { .zero }
  public func draw(at point: NSPoint) {}
}

// https://developer.apple.com/documentation/appkit/nsresponder · macOS 10.0 · read 2026-11-29
@MainActor open class NSResponder: NSObject {
  open var undoManager: UndoManager? { nil }
}
// https://developer.apple.com/documentation/appkit/nsview · macOS 10.0 · read 2026-11-29
@MainActor open class NSView: NSResponder {
  public struct AutoresizingMask: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let width = AutoresizingMask(rawValue: 2)
  }
  public init(frame frameRect: NSRect) {}
  public required init?(coder: NSCoder) { nil }
  open var needsDisplay = false
  open var visibleRect: NSRect { .zero }
  open var autoresizingMask: AutoresizingMask = []
  open func draw(_ dirtyRect: NSRect) {}
}
// https://developer.apple.com/documentation/appkit/nsscrollview · macOS 10.0 · read 2026-11-29
@MainActor open class NSScrollView: NSView {
  public convenience init() { self.init(frame: .zero) }
  open var hasVerticalScroller = false
  open var documentView: NSView?
}
// https://developer.apple.com/documentation/appkit/nstext · macOS 10.0 · read 2026-11-29
@MainActor open class NSText: NSView {
  open func paste(_ sender: Any?) {}
  open var isRichText = true
  open var isEditable = true
  open var isVerticallyResizable = true
  open var font: NSFont?
}
// The protocol is not isolated; its methods are.
// https://developer.apple.com/documentation/appkit/nstextdelegate · macOS 10.0 · read 2026-11-29
public protocol NSTextDelegate: NSObjectProtocol {
  @MainActor func textDidChange(_ notification: Notification)
  @MainActor func textDidEndEditing(_ notification: Notification)
}
// https://developer.apple.com/documentation/appkit/nstextviewdelegate · macOS 10.0; textViewWritingTools… 15.0 · read 2026-11-29
public protocol NSTextViewDelegate: NSTextDelegate {
  @MainActor func textViewDidChangeSelection(_ notification: Notification)
  @MainActor func textViewWritingToolsWillBegin(_ textView: NSTextView)
  @MainActor func textViewWritingToolsDidEnd(_ textView: NSTextView)
}
// https://developer.apple.com/documentation/appkit/nstextview · macOS 10.0 · read 2026-11-29
@MainActor open class NSTextView: NSText {
  public init(frame frameRect: NSRect, textContainer container: NSTextContainer?) { super.init(frame: frameRect) }
  public required init?(coder: NSCoder) { nil }
  open weak var delegate: (any NSTextViewDelegate)?
  open var allowsUndo = false
  open var layoutManager: NSLayoutManager? { nil }
  open var textContainer: NSTextContainer? { nil }
  open var textContainerOrigin: NSPoint { .zero }
  open var typingAttributes: [NSAttributedString.Key: Any] = [:]
  open func setSelectedRange(_ charRange: NSRange) {}
}
// https://developer.apple.com/documentation/appkit/nstextinputclient · macOS 10.5 · read 2026-11-29
extension NSTextView {
  public func hasMarkedText() -> Bool { false }
  public func selectedRange() -> NSRange { NSRange() }
}
// https://developer.apple.com/documentation/appkit/nsfont · macOS 10.0 · read 2026-11-29
open class NSFont: NSObject {
  public class var systemFontSize: CGFloat { 13 }
  public class var smallSystemFontSize: CGFloat { 11 }
  public struct Weight: Sendable { public static let regular = Weight() }
  public class func systemFont(ofSize fontSize: CGFloat) -> NSFont { NSFont() }
  public class func boldSystemFont(ofSize fontSize: CGFloat) -> NSFont { NSFont() }
  public class func monospacedSystemFont(ofSize fontSize: CGFloat, weight: Weight) -> NSFont { NSFont() }
}
// https://developer.apple.com/documentation/appkit/nscolor · macOS 10.0 · read 2026-11-29
open class NSColor: NSObject, @unchecked Sendable {
  public init(srgbRed red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {}
  public class var black: NSColor { fatalError() }
  public class var white: NSColor { fatalError() }
  open func withAlphaComponent(_ alpha: CGFloat) -> NSColor { self }
  open func setFill() {}
}
