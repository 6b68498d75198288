/// The JSON form of a format, which is sent with that of the operation:
///
///     {"sets":[{"bold":true}],"kept":[0,5,1],"put":[1,1]}
///
/// `kept` contains triples: the scalars of base text since the last triple's end, a length, a set's
/// number. `put` contains pairs over the inserted text: a length, and a set's number or 0. Inserted
/// text after the last pair has no attributes. In a document's form, `runs` contains such pairs
/// over its text.
extension Format {
  /// Maximum sets of a format.
  public static let setsMax = 1_000

  /// Appends the JSON form as UTF-8.
  public func appendJSON(to buffer: inout [UInt8]) { appendJSON(to: &buffer, head: "{") }

  /// Appends the JSON form with the start of the object in front.
  func appendJSON(to buffer: inout [UInt8], head: StaticString) {
    let numbering = UsedSets(sets, block.spans, block.runs)
    Self.append(head, to: &buffer)
    Self.append("\"sets\":", to: &buffer)
    Self.appendSets(numbering.used, to: &buffer)
    if spanCount > 0 {
      Self.append(",\"kept\":[", to: &buffer)
      var gap = 0
      var isFirst = true
      for word in block.spans {
        if word.value == 0 {
          gap = word.count
          continue
        }
        if !isFirst { buffer.append(UInt8(ascii: ",")) }
        isFirst = false
        TextOperation.append(gap, to: &buffer)
        gap = 0
        buffer.append(UInt8(ascii: ","))
        Self.appendPair(word, numbering.numbers, to: &buffer)
      }
      buffer.append(UInt8(ascii: "]"))
    }
    if runCount > 0 {
      Self.append(",\"put\":", to: &buffer)
      Self.appendPairs(block.runs, numbering.numbers, to: &buffer)
    }
    buffer.append(UInt8(ascii: "}"))
  }

  static func append(_ text: StaticString, to buffer: inout [UInt8]) {
    buffer.append(
      contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  static func appendSets(_ sets: [AttributeSet], to buffer: inout [UInt8]) {
    buffer.append(UInt8(ascii: "["))
    for (index, set) in sets.enumerated() {
      if index > 0 { buffer.append(UInt8(ascii: ",")) }
      set.appendJSON(to: &buffer)
    }
    buffer.append(UInt8(ascii: "]"))
  }

  static func appendPairs(
    _ words: UnsafeBufferPointer<RunWord>, _ numbers: [UInt32], to buffer: inout [UInt8]
  ) {
    buffer.append(UInt8(ascii: "["))
    for (index, word) in words.enumerated() {
      if index > 0 { buffer.append(UInt8(ascii: ",")) }
      appendPair(word, numbers, to: &buffer)
    }
    buffer.append(UInt8(ascii: "]"))
  }

  private static func appendPair(
    _ word: RunWord, _ numbers: [UInt32], to buffer: inout [UInt8]
  ) {
    TextOperation.append(word.count, to: &buffer)
    buffer.append(UInt8(ascii: ","))
    TextOperation.append(Int(numbers[Int(word.value)]), to: &buffer)
  }
}

extension AttributeSet {
  /// Appends the attributes as a JSON object.
  public func appendJSON(to buffer: inout [UInt8]) {
    buffer.append(UInt8(ascii: "{"))
    var isFirst = true
    bytes.withUnsafeBufferPointer { bytes in
      var entry = Entry(bytes)
      while !entry.isAtEnd {
        if !isFirst { buffer.append(UInt8(ascii: ",")) }
        isFirst = false
        TextOperation.appendString(entry.key, to: &buffer)
        buffer.append(UInt8(ascii: ":"))
        buffer.append(contentsOf: entry.value)
        entry.advance()
      }
    }
    buffer.append(UInt8(ascii: "}"))
  }

  /// Reads a JSON object of attributes; the last value of a repeated key counts.
  ///
  /// - Throws: `malformed` or `invalidUTF8`, and no other error for any input.
  public init(json text: String) throws(OperationError) {
    try self.init(json: Array(text.utf8))
  }

  /// Reads a JSON object of attributes, given as UTF-8.
  ///
  /// - Throws: As ``init(json:)-(String)``.
  package init(json: [UInt8]) throws(OperationError) {
    self = try FormatJSONReader.whole(json) { (reader) throws(OperationError) in
      try reader.readSet()
    }
  }
}

extension RichOperation {
  /// Reads the format of an operation.
  ///
  /// - Parameters:
  ///   - text: The operation on the text.
  ///   - json: The JSON form of the format, as UTF-8. Unknown fields are skipped.
  /// - Throws: `malformed`, `invalidUTF8`, or `tooLong` beyond ``Format/setsMax``, and no other
  ///   error for any input.
  /// - Complexity: O(bytes + components of the text).
  public init(text: TextOperation, formatJSON json: [UInt8]) throws(OperationError) {
    let lists = try FormatJSONReader.lists(json, setsMax: Format.setsMax)
    self.text = text
    format = try lists.format(of: text)
  }
}

extension FormatJSONReader.Lists {
  /// Returns the format of an operation; throws `malformed` if the lists do not fit the operation.
  func format(of text: TextOperation) throws(OperationError) -> Format? {
    let check = FormatCheck(self)
    return try Format(spans: check.spans(of: text), runs: check.runs(of: text), sets: check.sets)
  }
}

extension RichDocument {
  /// Appends the JSON form of the runs: `{"sets":[…],"runs":[5,1,6,0]}`.
  public func appendFormatJSON(to buffer: inout [UInt8]) { appendFormatJSON(words, to: &buffer) }

  /// Appends the JSON form with these lengths of the runs.
  func appendFormatJSON(_ words: [RunWord], to buffer: inout [UInt8]) {
    words.withUnsafeBufferPointer { words in
      let numbering = UsedSets(sets, words, UnsafeBufferPointer(start: nil, count: 0))
      Format.append("{\"sets\":", to: &buffer)
      Format.appendSets(numbering.used, to: &buffer)
      Format.append(",\"runs\":", to: &buffer)
      Format.appendPairs(
        UnsafeBufferPointer(rebasing: hasAttributes ? words[...] : words[..<0]),
        numbering.numbers, to: &buffer)
    }
    buffer.append(UInt8(ascii: "}"))
  }

  /// Reads the runs of a text.
  ///
  /// - Throws: `malformed` or `invalidUTF8`, and no other error for any input.
  public init(_ text: Document, formatJSON json: [UInt8]) throws(OperationError) {
    let lists = try FormatJSONReader.lists(json, setsMax: .max)
    // The runs of a text are those of an operation that inserts it.
    let whole = TextOperation(replacing: Document(), by: text)
    let check = FormatCheck(lists)
    var words = try check.runs(of: whole)
    words.put(0, count: text.scalarCount - words.reduce(0) { $0 + $1.count })
    self.init(text, runs: words, sets: check.sets)
    dropUnusedSets()
  }
}

/// Converts the numbers that were read to runs, and rejects those that do not fit the text.
private struct FormatCheck {
  private let lists: FormatJSONReader.Lists
  private var table = SetTable()
  /// The table's set number for each set number that was read.
  private var numbers: [UInt32] = [0]

  init(_ lists: FormatJSONReader.Lists) {
    self.lists = lists
    for set in lists.sets { numbers.append(table.number(of: set)) }
  }

  var sets: [AttributeSet] { table.sets }

  private func number(_ found: Int) throws(OperationError) -> UInt32 {
    guard found < numbers.count else { throw Self.misplaced }
    return numbers[found]
  }

  /// An error of the form as a whole, at offset 0.
  private static var misplaced: OperationError { .malformed(offset: 0) }

  func spans(of text: TextOperation) throws(OperationError) -> [RunWord] {
    guard lists.kept.count % 3 == 0 else { throw Self.misplaced }
    var spans: [RunWord] = []
    var end = 0
    for index in stride(from: 0, to: lists.kept.count, by: 3) {
      let (gap, length) = (lists.kept[index], lists.kept[index + 1])
      let set = try number(lists.kept[index + 2])
      let rest = text.baseLength - end
      guard gap <= rest, 1...max(1, rest - gap) ~= length, lists.kept[index + 2] > 0,
        !table[set].contains("embed")
      else { throw Self.misplaced }
      end += gap + length
      spans.put(0, count: gap)
      spans.put(set, count: length)
    }
    let isOnKept = spans.withUnsafeBufferPointer { spans in
      text.withPacked { words, _ in
        var reader = RunReader(spans)
        return words.allSatisfy { word in
          var left = word.isInsert ? 0 : word.scalars
          while left > 0 {
            let count = min(left, reader.word.count)
            if word.isDelete, reader.word.value != 0 { return false }
            reader.take(count)
            left -= count
          }
          return true
        }
      }
    }
    guard isOnKept else { throw Self.misplaced }
    return spans
  }

  func runs(of text: TextOperation) throws(OperationError) -> [RunWord] {
    guard lists.put.count % 2 == 0 else { throw Self.misplaced }
    var runs: [RunWord] = []
    var rest = text.insertedScalars
    var hasEmbeds = false
    for index in stride(from: 0, to: lists.put.count, by: 2) {
      let count = lists.put[index]
      let set = try number(lists.put[index + 1])
      rest -= count
      guard count > 0, rest >= 0, !table[set].hasRemovals else { throw Self.misplaced }
      hasEmbeds = hasEmbeds || table[set].contains("embed")
      runs.put(set, count: count)
    }
    if hasEmbeds, !areEmbedsPlaced(runs, text) { throw Self.misplaced }
    return runs
  }

  /// Whether only U+FFFC has the attribute `embed`.
  private func areEmbedsPlaced(_ runs: [RunWord], _ text: TextOperation) -> Bool {
    runs.withUnsafeBufferPointer { runs in
      text.withPacked { _, bytes in
        var reader = RunReader(runs)
        var index = 0
        while index < bytes.count, !reader.isAtEnd {
          let isObject =
            bytes[index] == 0xef && bytes[index + 1] == 0xbf && bytes[index + 2] == 0xbc
          if !isObject, table[reader.word.value].contains("embed") { return false }
          reader.take(1)
          index += 1
          while index < bytes.count, bytes[index] & 0xc0 == 0x80 { index += 1 }
        }
        return true
      }
    }
  }
}
