package import OTCore
package import ParleyClient

extension TextOperation {
  /// Creates the operation that replaces a range of scalars, reduced by the common beginning and
  /// end of both texts: input methods and corrections replace whole words.
  ///
  /// - Complexity: O(log *n*), plus the lengths of the replaced and inserted texts.
  package init(
    replacing range: Range<Int>, of document: Document, with text: String
  ) throws(NoteError) {
    let old = Array((range.isEmpty ? "" : document.text(in: range)).unicodeScalars)
    let new = Array(text.unicodeScalars)
    let shorter = min(old.count, new.count)
    var start = 0
    while start < shorter, old[start] == new[start] { start += 1 }
    var end = 0
    while end < shorter - start, old[old.count - 1 - end] == new[new.count - 1 - end] { end += 1 }
    var inserted = String.UnicodeScalarView()
    inserted.append(contentsOf: new[start..<new.count - end])
    self = try document.replacement(
      of: range.lowerBound + start..<range.upperBound - end, with: String(inserted))
  }

  /// Creates the operation that replaces the part between two texts' common beginning and end.
  ///
  /// - Parameter caret: The caret in the new text. If several positions are possible, as for a
  ///   letter inserted beside the same letter, the edit ends at the caret.
  /// - Complexity: O(*old* + *new*).
  package init(replacing old: Document, by new: Document, caret: Int) {
    let from = Array(old.text.unicodeScalars)
    let to = Array(new.text.unicodeScalars)
    let shorter = min(from.count, to.count)
    // Compare the text after the caret first, so that the edit ends at the caret.
    let behind = min(max(to.count - caret, 0), shorter)
    var end = 0
    while end < behind, from[from.count - 1 - end] == to[to.count - 1 - end] { end += 1 }
    var start = 0
    while start < shorter - end, from[start] == to[start] { start += 1 }
    while end < shorter - start, from[from.count - 1 - end] == to[to.count - 1 - end] { end += 1 }
    var inserted = String.UnicodeScalarView()
    inserted.append(contentsOf: to[start..<to.count - end])
    self.init()
    retain(start)
    if !inserted.isEmpty { insert(String(inserted)) }
    delete(from.count - end - start)
    retain(end)
  }
}

extension TextEdit {
  /// Returns the edits of an operation for a view; many are combined into one.
  package static func few(
    of operation: TextOperation, on before: Document, after: Document
  ) -> [TextEdit] {
    let edits = TextEdit.edits(of: operation, on: before)
    guard edits.count > NoteBinding.editsMax, let first = edits.first, let last = edits.last else {
      return edits
    }
    let start = first.range.lowerBound
    // The distance from the last edit's end to the end of the text is the same before and after.
    let behind = after.utf16Count - last.range.lowerBound - last.text.utf16.count
    let scalars =
      after.scalarOffset(ofUTF16: start)..<after.scalarOffset(ofUTF16: after.utf16Count - behind)
    return [
      TextEdit(range: start..<before.utf16Count - behind, text: after.text(in: scalars))
    ]
  }
}

extension Selection {
  /// Returns the selection of a range with a direction, which views do not report: the end that did
  /// not move is the anchor.
  package func directed(to range: Range<Int>) -> Selection {
    if range.upperBound == anchor, range.lowerBound != anchor {
      return Selection(anchor: range.upperBound, head: range.lowerBound)
    }
    return Selection(anchor: range.lowerBound, head: range.upperBound)
  }

  /// Returns the selection after another user's operation. Text inserted at one of its ends stays
  /// outside, so that the next key does not replace it; a caret stays before inserted text.
  package func keptApart(from operation: TextOperation) -> Selection {
    let moved = transformed(over: operation, own: false)
    guard anchor != head else { return moved }
    let start = Cursor.transformed(min(anchor, head), over: operation, own: true)
    return anchor < head
      ? Selection(anchor: min(start, moved.head), head: moved.head)
      : Selection(anchor: moved.anchor, head: min(start, moved.anchor))
  }
}
