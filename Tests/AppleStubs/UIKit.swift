// swift-format-ignore-file
// Declarations of UIKit that this package's views use, written by hand from its documentation, so that
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

open class NSTextStorage: NSMutableAttributedString {
  public struct EditActions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let editedAttributes = EditActions(rawValue: 1)
    public static let editedCharacters = EditActions(rawValue: 2)
  }
  @MainActor open weak var delegate: (any NSTextStorageDelegate)?
}
@MainActor public protocol NSTextStorageDelegate: NSObjectProtocol {
  func textStorage(
    _ textStorage: NSTextStorage, didProcessEditing editedMask: NSTextStorage.EditActions,
    range editedRange: NSRange, changeInLength delta: Int)
}
open class NSTextContainer: NSObject {}

extension NSAttributedString.Key {
  public static let font = Self(rawValue: "font")
  public static let foregroundColor = Self(rawValue: "foregroundColor")
  public static let backgroundColor = Self(rawValue: "backgroundColor")
}
extension NSAttributedString {
  public func size() -> CGSize { .zero }
  public func draw(at point: CGPoint) {}
}

@MainActor open class UIResponder: NSObject {
  open var undoManager: UndoManager? { nil }
  open func paste(_ sender: Any?) {}
}
@MainActor open class UIView: UIResponder {
  public enum ContentMode { case redraw }
  public init(frame: CGRect) {}
  public convenience override init() { self.init(frame: .zero) }
  public required init?(coder: NSCoder) { nil }
  open var frame: CGRect = .zero
  open var bounds: CGRect = .zero
  open var contentMode = ContentMode.redraw
  open var isUserInteractionEnabled = true
  open var backgroundColor: UIColor?
  open func addSubview(_ view: UIView) {}
  open func layoutSubviews() {}
  open func setNeedsDisplay() {}
  open func draw(_ rect: CGRect) {}
}
open class UIScrollView: UIView { open var contentSize: CGSize = .zero }
@MainActor open class UITextPosition: NSObject {}
@MainActor open class UITextRange: NSObject {
  open var start: UITextPosition { UITextPosition() }
}
@MainActor open class UITextSelectionRect: NSObject { open var rect: CGRect { .zero } }
@MainActor public protocol UITextViewDelegate: NSObjectProtocol {
  func textViewDidChange(_ textView: UITextView)
  func textViewDidChangeSelection(_ textView: UITextView)
  func textViewDidEndEditing(_ textView: UITextView)
}
open class UITextView: UIScrollView {
  public init(frame: CGRect, textContainer: NSTextContainer?) { super.init(frame: frame) }
  public required init?(coder: NSCoder) { nil }
  open weak var delegate: (any UITextViewDelegate)?
  open var textStorage: NSTextStorage { fatalError() }
  open var isEditable = true
  open var selectedRange = NSRange()
  open var font: UIFont?
  open var adjustsFontForContentSizeCategory = false
  open var typingAttributes: [NSAttributedString.Key: Any] = [:]
  open var markedTextRange: UITextRange? { nil }
  open var beginningOfDocument: UITextPosition { UITextPosition() }
  open func position(from position: UITextPosition, offset: Int) -> UITextPosition? { nil }
  open func textRange(from: UITextPosition, to: UITextPosition) -> UITextRange? { nil }
  open func caretRect(for position: UITextPosition) -> CGRect { .zero }
  open func selectionRects(for range: UITextRange) -> [UITextSelectionRect] { [] }
}
open class UIFont: NSObject {
  public struct TextStyle: Sendable {
    public static let body = TextStyle()
    public static let caption2 = TextStyle()
  }
  public class func preferredFont(forTextStyle style: TextStyle) -> UIFont { UIFont() }
}
open class UIColor: NSObject, @unchecked Sendable {
  public init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {}
  public class var clear: UIColor { fatalError() }
  public class var black: UIColor { fatalError() }
  public class var white: UIColor { fatalError() }
  public func withAlphaComponent(_ alpha: CGFloat) -> UIColor { self }
  public func setFill() {}
}
public enum CGBlendMode { case normal }
public func UIRectFill(_ rect: CGRect) {}
public func UIRectFillUsingBlendMode(_ rect: CGRect, _ mode: CGBlendMode) {}
