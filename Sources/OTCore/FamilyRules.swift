/// The rules by which a family of clients counts positions, orders components and breaks ties.
///
/// The rules apply between a client and its server, never between two clients: an operation has one
/// position in the log, whatever the family of its author. So clients of all families share one
/// log.
public struct FamilyRules: Sendable, Hashable {
  /// The unit of lengths and positions.
  public enum Unit: Sendable {
    /// Unicode scalars, as in the log.
    case scalar
    /// UTF-16 code units.
    case utf16
  }

  /// The order of an insert and a delete at one position.
  public enum Order: Sendable {
    /// The order in which the author sent them.
    case asSent
    /// The insert first.
    case insertFirst
  }

  /// The insert that comes first if the client's operation and a committed one insert at one
  /// position; `.left` is the client's.
  public let side: Side
  /// The unit of lengths and positions.
  public let unit: Unit
  /// The order of an insert and a delete at one position.
  public let order: Order
  /// Whether an operation may end before the text; it retains the rest.
  public let isOpenEnded: Bool

  /// Creates rules.
  public init(side: Side, unit: Unit, order: Order, isOpenEnded: Bool = false) {
    self.side = side
    self.unit = unit
    self.order = order
    self.isOpenEnded = isOpenEnded
  }

  /// The rules of `parley.v1` and Whaler clients.
  public static let native = FamilyRules(side: .right, unit: .scalar, order: .asSent)
  /// The rules of ShareDB's type `text-unicode`.
  public static let shareDBText = FamilyRules(
    side: .left, unit: .scalar, order: .asSent, isOpenEnded: true)
  /// The rules of ot.js.
  public static let otJS = FamilyRules(side: .left, unit: .utf16, order: .insertFirst)
  /// The rules of Rustpad.
  public static let rustpad = FamilyRules(side: .left, unit: .scalar, order: .insertFirst)
}

// MARK: Order

extension TextOperation {
  /// Whether no delete is directly before an insert.
  public var isInsertFirst: Bool {
    guard block != nil else {
      return !(edit.deletesFirst && edit.deleted > 0 && edit.bytes > 0)
    }
    return withPacked { words, _ in
      var wasDelete = false
      for word in words {
        if wasDelete, word.isInsert { return false }
        wasDelete = word.isDelete
      }
      return true
    }
  }

  /// Returns the operation with each insert before the deletes beside it. It has the same effect.
  ///
  /// - Complexity: O(components), plus the text copied unless ``isInsertFirst``.
  public func insertingFirst() -> TextOperation {
    if isInsertFirst { return self }
    var ordered: [Word] = []
    withPacked { words, _ in
      ordered.reserveCapacity(words.count)
      for word in words {
        guard word.isInsert, let last = ordered.last, last.isDelete else {
          Self.append(word, to: &ordered)
          continue
        }
        // The deletes directly before it are one word: those of the same group have merged.
        ordered.removeLast()
        Self.append(word, to: &ordered)
        ordered.append(last)
      }
    }
    return with(ordered, base: baseLength, target: targetLength)
  }

  /// Appends a word, or merges it with a last word of its kind.
  private static func append(_ word: Word, to words: inout [Word]) {
    if let last = words.indices.last, words[last].isSameKind(as: word) {
      words[last].bits += word.bits & ~3
    } else {
      words.append(word)
    }
  }

  /// Returns an operation of other words with the same inserted text.
  private func with(_ words: [Word], base: Int, target: Int) -> TextOperation {
    withPacked { _, text in
      words.withUnsafeBufferPointer {
        TextOperation(packing: $0, text: text, base: base, target: target)
      }
    }
  }
}

// MARK: Units

extension TextOperation {
  /// Returns the operation with its lengths in UTF-16 code units.
  ///
  /// The result may only be transformed, compared and encoded: its lengths differ from the number
  /// of scalars of its inserts.
  ///
  /// - Parameter text: The text to which the operation applies.
  /// - Throws: `lengthMismatch`, or `tooLong` beyond ``lengthMax``.
  /// - Complexity: O(components × log *n*), plus the inserted text.
  public func inUTF16(on text: Document) throws(OperationError) -> TextOperation {
    guard baseLength == text.scalarCount else {
      throw .lengthMismatch(expected: text.scalarCount, found: baseLength)
    }
    guard text.utf16Count <= Self.lengthMax else { throw .tooLong }
    if text.utf16Count == text.scalarCount, !hasAstralInsert { return self }
    var position = 0
    var start = 0
    return try converting { kind, scalars, inserted in
      if kind == .insert { return Self.utf16Count(of: inserted) }
      position += scalars
      let end = text.utf16Offset(ofScalar: position)
      defer { start = end }
      return end - start
    }
  }

  /// Returns the operation, whose lengths are in UTF-16 code units, with its lengths in scalars.
  ///
  /// - Parameter text: The text to which the operation applies.
  /// - Returns: `nil` if a position is inside a surrogate pair.
  /// - Throws: `lengthMismatch`, in UTF-16 code units.
  /// - Complexity: O(components × log *n*), plus the inserted text.
  public func inScalars(on text: Document) throws(OperationError) -> TextOperation? {
    guard baseLength == text.utf16Count else {
      throw .lengthMismatch(expected: text.utf16Count, found: baseLength)
    }
    if text.utf16Count == text.scalarCount, !hasAstralInsert { return self }
    var position = 0
    var start = 0
    var isWhole = true
    let converted = try converting { kind, units, inserted in
      if kind == .insert { return UTF8Check.scalarCount(inserted) }
      position += units
      let end = text.scalarOffset(ofUTF16: position)
      if text.utf16Offset(ofScalar: end) != position { isWhole = false }
      defer { start = end }
      return end - start
    }
    return isWhole ? converted : nil
  }

  /// Returns the operation with the lengths of its inserts in UTF-16 code units. Its retains and
  /// deletes are in these units already, but the JSON reader counts inserts in scalars.
  ///
  /// - Throws: `tooLong` beyond ``lengthMax``.
  public func countingInsertsInUTF16() throws(OperationError) -> TextOperation {
    guard hasAstralInsert else { return self }
    return try converting { kind, length, text in
      kind == .insert ? Self.utf16Count(of: text) : length
    }
  }

  /// Returns the operation with other lengths. Its text remains.
  private func converting(
    _ length: (Kind, Int, UnsafeBufferPointer<UInt8>) -> Int
  ) throws(OperationError) -> TextOperation {
    var words: [Word] = []
    words.reserveCapacity(componentCount)
    var base = 0
    var target = 0
    forEachPacked { kind, count, text in
      let converted = length(kind, count, text)
      if kind != .insert { base += converted }
      if kind != .delete { target += converted }
      if converted > 0 { words.append(Word(kind, scalars: converted, bytes: text.count)) }
    }
    guard base <= Self.lengthMax, target <= Self.lengthMax else { throw .tooLong }
    return with(words, base: base, target: target)
  }

  /// Whether an inserted scalar is beyond U+FFFF.
  private var hasAstralInsert: Bool {
    withPacked { _, text in text.contains { $0 >= 0xf0 } }
  }

  private static func utf16Count(of text: UnsafeBufferPointer<UInt8>) -> Int {
    var count = 0
    for byte in text where byte & 0xc0 != 0x80 { count += byte >= 0xf0 ? 2 : 1 }
    return count
  }

  /// Returns the operation, extended to a text of this length.
  public func retainingRest(of length: Int) -> TextOperation {
    guard baseLength < length, length <= Self.lengthMax,
      targetLength <= Self.lengthMax - (length - baseLength)
    else { return self }
    var extended = self
    extended.retain(length - baseLength)
    return extended
  }
}
