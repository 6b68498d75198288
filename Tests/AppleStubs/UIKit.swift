// swift-format-ignore-file
// Declarations of UIKit that this package's views use, for `make apple-check` on Linux. README.md says how they are
// written. Nothing runs.
// unverified: members of UndoManager, UIResponder, UIView, UIScrollView, UITextRange, UITextSelectionRect, UIFont and UIColor, but for undoManager and draw(_:); keys of NSAttributedString but for font and colours
@_exported import Foundation

// https://developer.apple.com/documentation/foundation/undomanager · iOS 3.0, macOS 10.0 · read 2026-11-29
@MainActor open class UndoManager: NSObject {
  public override init() {}
  open func disableUndoRegistration() {}
  open var canUndo: Bool { false }
  open var canRedo: Bool { false }
  open func undo() {}
  open func redo() {}
}

// https://developer.apple.com/documentation/uikit/nstextstorage · iOS 7.0 · read 2026-11-29
open class NSTextStorage: NSMutableAttributedString {
  public struct EditActions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let editedAttributes = EditActions(rawValue: 1)
    public static let editedCharacters = EditActions(rawValue: 2)
  }
  open weak var delegate: (any NSTextStorageDelegate)?
}
// https://developer.apple.com/documentation/uikit/nstextstoragedelegate · iOS 7.0 · read 2026-11-29
public protocol NSTextStorageDelegate: NSObjectProtocol {
  func textStorage(
    _ textStorage: NSTextStorage, didProcessEditing editedMask: NSTextStorage.EditActions,
    range editedRange: NSRange, changeInLength delta: Int)
}
// https://developer.apple.com/documentation/uikit/nstextcontainer · iOS 7.0 · read 2026-11-29
open class NSTextContainer: NSObject {}

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
// https://developer.apple.com/documentation/foundation/nsattributedstring/draw(at:) · iOS 6.0 · read 2026-11-29
extension NSAttributedString {
  public func size() -> CGSize { .zero }
  public func draw(at point: CGPoint) {}
}

// https://developer.apple.com/documentation/uikit/uiresponder · iOS 2.0 · read 2026-11-29
@MainActor open class UIResponder: NSObject {
  open var undoManager: UndoManager? { nil }
  open func paste(_ sender: Any?) {}
}
// https://developer.apple.com/documentation/uikit/uiview · iOS 2.0 · read 2026-11-29
@MainActor open class UIView: UIResponder {
  public enum ContentMode: Sendable { case redraw }
  public init(frame: CGRect) {}
  public convenience override init() { self.init(frame: .zero) }
  public required init?(coder: NSCoder) { nil }
  open var frame: CGRect = .zero
  open var bounds: CGRect = .zero
  open var contentMode: ContentMode = .redraw
  open var isUserInteractionEnabled = true
  open var backgroundColor: UIColor?
  open func addSubview(_ view: UIView) {}
  open func layoutSubviews() {}
  open func setNeedsDisplay() {}
  open func draw(_ rect: CGRect) {}
}
// https://developer.apple.com/documentation/uikit/uiscrollview · iOS 2.0 · read 2026-11-29
@MainActor open class UIScrollView: UIView { open var contentOffset: CGPoint = .zero }
// https://developer.apple.com/documentation/uikit/uitextposition · iOS 3.2 · read 2026-11-29
@MainActor open class UITextPosition: NSObject {}
// https://developer.apple.com/documentation/uikit/uitextrange · iOS 3.2 · read 2026-11-29
@MainActor open class UITextRange: NSObject {
  open var start: UITextPosition { UITextPosition() }
}
// https://developer.apple.com/documentation/uikit/uitextselectionrect · iOS 6.0 · read 2026-11-29
@MainActor open class UITextSelectionRect: NSObject { open var rect: CGRect { .zero } }
// https://developer.apple.com/documentation/uikit/uitextinputdelegate · iOS 3.2 · read 2026-11-29
@MainActor public protocol UITextInputDelegate: NSObjectProtocol {
  func selectionWillChange(_ textInput: (any UITextInput)?)
  func selectionDidChange(_ textInput: (any UITextInput)?)
  func textWillChange(_ textInput: (any UITextInput)?)
  func textDidChange(_ textInput: (any UITextInput)?)
}
// https://developer.apple.com/documentation/uikit/uitextinput · iOS 3.2 · read 2026-11-29
@MainActor public protocol UITextInput: NSObjectProtocol {
  var inputDelegate: (any UITextInputDelegate)? { get set }
  var markedTextRange: UITextRange? { get }
  var beginningOfDocument: UITextPosition { get }
  func position(from position: UITextPosition, offset: Int) -> UITextPosition?
  func textRange(from fromPosition: UITextPosition, to toPosition: UITextPosition) -> UITextRange?
  func caretRect(for position: UITextPosition) -> CGRect
  func closestPosition(to point: CGPoint) -> UITextPosition?
  func offset(from: UITextPosition, to toPosition: UITextPosition) -> Int
  func selectionRects(for range: UITextRange) -> [UITextSelectionRect]
}
// https://developer.apple.com/documentation/uikit/uitextviewdelegate · iOS 2.0; textViewWritingTools… iOS 18.0 · read 2026-11-29
@MainActor public protocol UITextViewDelegate: NSObjectProtocol {
  func textViewDidChange(_ textView: UITextView)
  func textViewDidChangeSelection(_ textView: UITextView)
  func textViewDidEndEditing(_ textView: UITextView)
  func textViewWritingToolsWillBegin(_ textView: UITextView)
  func textViewWritingToolsDidEnd(_ textView: UITextView)
}
// https://developer.apple.com/documentation/uikit/uitextview · iOS 2.0; textContainer, textStorage iOS 7.0 · read 2026-11-29
@MainActor open class UITextView: UIScrollView, UITextInput {
  public init(frame: CGRect, textContainer: NSTextContainer?) { super.init(frame: frame) }
  public required init?(coder: NSCoder) { nil }
  open weak var delegate: (any UITextViewDelegate)?
  open var textStorage: NSTextStorage { fatalError() }
  open var isEditable = true
  open var selectedRange = NSRange()
  open var font: UIFont?
  open var adjustsFontForContentSizeCategory = false
  open var typingAttributes: [NSAttributedString.Key: Any] = [:]
  open weak var inputDelegate: (any UITextInputDelegate)?
  open var markedTextRange: UITextRange? { nil }
  open var beginningOfDocument: UITextPosition { UITextPosition() }
  open func position(from position: UITextPosition, offset: Int) -> UITextPosition? { nil }
  open func textRange(from fromPosition: UITextPosition, to toPosition: UITextPosition) -> UITextRange? { nil }
  open func caretRect(for position: UITextPosition) -> CGRect { .zero }
  open func closestPosition(to point: CGPoint) -> UITextPosition? { nil }
  open func offset(from: UITextPosition, to toPosition: UITextPosition) -> Int { 0 }
  open func selectionRects(for range: UITextRange) -> [UITextSelectionRect] { [] }
}
// https://developer.apple.com/documentation/uikit/uifont · iOS 2.0 · read 2026-11-29
open class UIFont: NSObject {
  public struct TextStyle: Sendable {
    public static let body = TextStyle()
    public static let caption2 = TextStyle()
  }
  public struct Weight: Sendable { public static let regular = Weight() }
  public class func preferredFont(forTextStyle style: TextStyle) -> UIFont { UIFont() }
  public class func systemFont(ofSize fontSize: CGFloat) -> UIFont { UIFont() }
  public class func boldSystemFont(ofSize fontSize: CGFloat) -> UIFont { UIFont() }
  public class func monospacedSystemFont(ofSize fontSize: CGFloat, weight: Weight) -> UIFont { UIFont() }
  open var pointSize: CGFloat { 17 }
}
// https://developer.apple.com/documentation/uikit/uicolor · iOS 2.0 · read 2026-11-29
open class UIColor: NSObject, @unchecked Sendable {
  public init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {}
  public class var clear: UIColor { fatalError() }
  public class var black: UIColor { fatalError() }
  public class var white: UIColor { fatalError() }
  open func withAlphaComponent(_ alpha: CGFloat) -> UIColor { self }
  open func setFill() {}
}
// https://developer.apple.com/documentation/coregraphics/cgblendmode · iOS 2.0 · read 2026-11-29
public enum CGBlendMode: Sendable { case normal }
// https://developer.apple.com/documentation/uikit/uirectfill(_:) · iOS 2.0 · read 2026-11-29
public func UIRectFill(_ rect: CGRect) {}
// https://developer.apple.com/documentation/uikit/uirectfillusingblendmode(_:_:) · iOS 2.0 · read 2026-11-29
public func UIRectFillUsingBlendMode(_ rect: CGRect, _ mode: CGBlendMode) {}

// https://developer.apple.com/documentation/uikit/uibackgroundtaskidentifier · iOS 4.0 · read 2026-11-29
public struct UIBackgroundTaskIdentifier: Hashable, Sendable {
  public static let invalid = UIBackgroundTaskIdentifier()
}
// https://developer.apple.com/documentation/uikit/uiapplication · iOS 2.0; background tasks iOS 4.0 · read 2026-11-29
@MainActor open class UIApplication: UIResponder {
  public class var shared: UIApplication { fatalError() }
  public nonisolated func beginBackgroundTask(
    withName taskName: String?, expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
  ) -> UIBackgroundTaskIdentifier { .invalid }
  public nonisolated func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {}
}
