package import OTCore

/// A replacement of a range of a text.
public struct TextEdit: Sendable, Hashable {
  /// The replaced range, in UTF-16 units of the text after all earlier edits.
  public let range: Range<Int>
  /// The replacement.
  public let text: String

  /// Creates an edit.
  public init(range: Range<Int>, text: String) {
    self.range = range
    self.text = text
  }
}

/// A caret or a selected range, in UTF-16 units.
public struct TextSelection: Sendable, Hashable {
  /// The position where the selection was started.
  public var anchor: Int
  /// The position of the caret.
  public var head: Int

  /// Creates a selection.
  public init(anchor: Int, head: Int) {
    self.anchor = anchor
    self.head = head
  }

  /// Creates a caret without a selected range.
  public init(at place: Int) { self.init(anchor: place, head: place) }

  /// The selected range; empty for a caret alone.
  public var range: Range<Int> { min(anchor, head)..<max(anchor, head) }
}

extension TextEdit {
  /// Returns the edits of an operation on a text, in the order of their positions.
  ///
  /// - Complexity: O(*c* log *n*) for *c* components, plus the text inserted.
  package static func edits(of operation: TextOperation, on document: Document) -> [TextEdit] {
    var edits: [TextEdit] = []
    var place = 0  // Position in scalars of the old text.
    var shift = 0  // UTF-16 units inserted minus deleted so far.
    var pending: (start: Int, deleted: Int, text: String)?
    func flush() {
      guard let edit = pending else { return }
      pending = nil
      edits.append(
        TextEdit(range: edit.start..<edit.start + edit.deleted, text: edit.text))
      shift += edit.text.utf16.count - edit.deleted
    }
    for component in operation.components {
      switch component {
      case .retain(let count):
        flush()
        place += count
      case .insert(let text):
        let start = pending?.start ?? document.utf16Offset(ofScalar: place) + shift
        pending = (start, pending?.deleted ?? 0, (pending?.text ?? "") + text)
      case .delete(let count):
        let from = document.utf16Offset(ofScalar: place)
        let deleted = document.utf16Offset(ofScalar: place + count) - from
        pending = (
          pending?.start ?? from + shift, (pending?.deleted ?? 0) + deleted, pending?.text ?? ""
        )
        place += count
      }
    }
    flush()
    return edits
  }
}

extension Document {
  /// Returns the scalars of a range of UTF-16 units. A range that splits a surrogate pair is
  /// extended to the whole character.
  ///
  /// - Complexity: O(log *n*).
  package func scalars(ofUTF16 range: Range<Int>) throws(NoteError) -> Range<Int> {
    guard range.lowerBound >= 0, range.upperBound <= utf16Count else {
      throw .outOfRange(range, length: utf16Count)
    }
    let start = scalarOffset(ofUTF16: range.lowerBound)
    var end = scalarOffset(ofUTF16: range.upperBound)
    if !range.isEmpty, utf16Offset(ofScalar: end) < range.upperBound { end += 1 }
    return start..<max(start, end)
  }

  /// Returns the operation that replaces a range of scalars.
  package func replacement(
    of range: Range<Int>, with text: String
  ) throws(NoteError) -> TextOperation {
    let added = text.unicodeScalars.count
    guard scalarCount - range.count + added <= TextOperation.lengthMax else { throw .tooLong }
    var operation = TextOperation()
    operation.retain(range.lowerBound)
    if !text.isEmpty { operation.insert(text) }
    operation.delete(range.count)
    operation.retain(scalarCount - range.upperBound)
    return operation
  }

  /// Converts a selection to UTF-16 units of this text.
  package func selection(_ selection: Selection) -> TextSelection {
    func place(_ scalar: Int) -> Int { utf16Offset(ofScalar: min(max(scalar, 0), scalarCount)) }
    return TextSelection(anchor: place(selection.anchor), head: place(selection.head))
  }

  /// Converts a selection to scalars of this text.
  package func selection(_ selection: TextSelection) -> Selection {
    Selection(
      anchor: scalarOffset(ofUTF16: selection.anchor), head: scalarOffset(ofUTF16: selection.head))
  }
}
