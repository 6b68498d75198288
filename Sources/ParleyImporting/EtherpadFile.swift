/// Exports of Etherpad (`.etherpad`): the database records of pads, as JSON.
///
/// The record `pad:NAME` contains the text, and `attribs`, which lists the attributes of each run
/// of characters as numbers of the pool, in base 36. A list line begins with a `*` that no author
/// typed, marked by `lmkr`. Revisions, chat, formatting and comments are not imported.
struct EtherpadFile {
  /// A pad: its name, and its text with lists and headings converted to Markdown.
  struct Pad {
    var name: String
    var text: [UInt8]
    var origin: ImportedNote.Pad
  }

  private static let levelMax = 16
  private static let authorsMax = 20
  private static let authorLettersMax = 100

  fileprivate struct Record {
    var name: String
    var text: [UInt8]?
    var attribs: [UInt8]?
    var head: Int?
    /// The attributes by number: key and value.
    var pool: [(number: Int, key: [UInt8], value: [UInt8])] = []
  }

  /// The content of a JSON file.
  enum Content {
    /// Pads, usually one.
    case pads([Pad])
    /// A note exported by Parley.
    case note(title: [UInt8], folder: [UInt8], text: [UInt8])
  }

  private var records: [Record] = []
  private var authors: [String: String] = [:]
  /// The fields of a note exported by Parley.
  private var title: [UInt8]?
  private var folder: [UInt8]?
  private var text: [UInt8]?

  /// Reads the pads of a file, or the note in Parley's own JSON.
  static func content(of bytes: [UInt8]) throws(ImportProblem) -> Content {
    var file = EtherpadFile()
    var json = LooseJSON(bytes)
    if json.kind == 0x5b { throw isHistory(json) ? .history : .notEtherpad }
    do throws(LooseJSON.Broken) {
      try json.object { key, json throws(LooseJSON.Broken) in try file.record(key, &json) }
      try json.finish()
    } catch { throw .notEtherpad }
    let authors = file.authors
    let pads = file.records.compactMap { pad(of: $0, authors) }
    if !pads.isEmpty { return .pads(pads) }
    guard let text = file.text, let title = file.title else { throw .notEtherpad }
    return .note(title: title, folder: file.folder ?? [], text: text)
  }

  /// Whether JSON is HedgeDoc's export of a history, which lists notes without their texts.
  private static func isHistory(_ json: LooseJSON) -> Bool {
    var json = json
    var isHistory = false
    do throws(LooseJSON.Broken) {
      try json.array { json throws(LooseJSON.Broken) in
        var (hasID, hasText, hasTime) = (false, false, false)
        guard json.kind == 0x7b else { throw LooseJSON.Broken() }
        try json.object { key, json throws(LooseJSON.Broken) in
          if key.utf8.elementsEqual("id".utf8) {
            hasID = try json.stringOrSkip() != nil
          } else if key.utf8.elementsEqual("text".utf8) {
            hasText = try json.stringOrSkip() != nil
          } else {
            if key.utf8.elementsEqual("time".utf8) { hasTime = true }
            try json.skip()
          }
        }
        guard hasID, hasText, hasTime else { throw LooseJSON.Broken() }
        isHistory = true
      }
      try json.finish()
    } catch { return false }
    return isHistory
  }

  // MARK: Records

  private mutating func record(_ key: String, _ json: inout LooseJSON) throws(LooseJSON.Broken) {
    let bytes = Array(key.utf8)
    if bytes.starts(with: Array("globalAuthor:".utf8)), json.kind == 0x7b {
      let id = String(decoding: bytes.dropFirst("globalAuthor:".utf8.count), as: UTF8.self)
      var name: [UInt8]?
      try json.object { field, json throws(LooseJSON.Broken) in
        if field.utf8.elementsEqual("name".utf8) {
          name = try json.stringOrSkip()
        } else {
          try json.skip()
        }
      }
      if let name { authors[id] = String(decoding: name, as: UTF8.self) }
    } else if bytes.starts(with: Array("pad:".utf8)), json.kind == 0x7b {
      var record = Record(name: Self.padName(bytes.dropFirst(4)))
      try json.object { field, json throws(LooseJSON.Broken) in try record.take(field, &json) }
      if record.text != nil { records.append(record) }
    } else if key.utf8.elementsEqual("title".utf8) {
      title = try json.stringOrSkip()
    } else if key.utf8.elementsEqual("folder".utf8) {
      folder = try json.stringOrSkip()
    } else if key.utf8.elementsEqual("text".utf8) {
      text = try json.stringOrSkip()
    } else {
      try json.skip()
    }
  }

  /// Returns a pad's name without its group's: `g.1a2B$name`.
  private static func padName(_ key: ArraySlice<UInt8>) -> String {
    var rest = key
    if key.starts(with: Array("g.".utf8)), let end = key.firstIndex(of: UInt8(ascii: "$")),
      end > key.startIndex + 2
    {
      rest = key[(end + 1)...]
    }
    return String(decoding: rest, as: UTF8.self)
  }

  private static func pad(of record: Record, _ authors: [String: String]) -> Pad? {
    guard let text = record.text else { return nil }
    var names: [String] = []
    for attribute in record.pool where names.count < authorsMax {
      guard attribute.key.elementsEqual("author".utf8),
        let written = authors[String(decoding: attribute.value, as: UTF8.self)]
      else { continue }
      let name = ImportedTitle.trimmed(written, lettersMax: authorLettersMax)
      if !name.isEmpty, !names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) {
        names.append(name)
      }
    }
    return Pad(
      name: record.name, text: Self.text(text, record),
      origin: ImportedNote.Pad(revision: record.head ?? 0, authors: names))
  }

  // MARK: Text

  /// The attributes of a run of characters. `end` is its end in UTF-16 units, as Etherpad counts.
  private struct Run {
    var end: Int
    var marks: Marks
  }

  fileprivate struct Marks {
    var list: [UInt8]?
    var heading: [UInt8]?
    var start: [UInt8]?
    var isLine = false
  }

  private static func text(_ text: [UInt8], _ record: Record) -> [UInt8] {
    // Every text in Etherpad ends with a newline.
    let whole = text.last == 0x0a ? text.dropLast() : text[...]
    let lines = whole.split(separator: 0x0a, omittingEmptySubsequences: false)
    guard let runs = runs(of: record, length: units(text[...])) else { return Array(whole) }
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var numbering = Numbering()
    var run = 0
    var start = 0
    for (index, line) in lines.enumerated() {
      while run < runs.count, runs[run].end <= start { run += 1 }
      start += units(line) + 1
      if index > 0 { result.append(0x0a) }
      append(line, run < runs.count ? runs[run].marks : Marks(), &numbering, to: &result)
    }
    return result
  }

  private static func append(
    _ line: ArraySlice<UInt8>, _ marks: Marks, _ numbering: inout Numbering,
    to result: inout [UInt8]
  ) {
    let list = list(marks.list)
    let heading = heading(marks.heading)
    let hasMark = (list != nil || heading != nil || marks.isLine) && line.first == UInt8(ascii: "*")
    let rest = hasMark ? line.dropFirst() : line
    let level = list?.level ?? 1
    if list?.kind != .number { numbering.end() }
    switch list?.kind {
    case .number:
      let number = numbering.next(level, start: marks.start.flatMap(Self.number))
      result += [UInt8](repeating: 0x20, count: 3 * (level - 1))
      result += Array(String(number).utf8) + Array(". ".utf8)
    case .indent: result += [UInt8](repeating: 0x09, count: level)
    case .other:
      result += [UInt8](repeating: 0x20, count: 2 * (level - 1))
      result += Array("- ".utf8)
    case nil:
      if let heading {
        result += [UInt8](repeating: UInt8(ascii: "#"), count: heading)
        result.append(0x20)
      }
    }
    result += rest
  }

  /// The current numbers of nested lists, the outermost first.
  fileprivate struct Numbering {
    private var numbers: [Int] = []

    mutating func end() { numbers = [] }

    /// - Parameter start: The first number of the line's list, if the file contains it.
    mutating func next(_ level: Int, start: Int?) -> Int {
      let isFirst = numbers.count < level
      numbers = Array((numbers + [Int](repeating: 0, count: levelMax)).prefix(level))
      let next = numbers[level - 1] + 1
      let number = isFirst ? start ?? 1 : max(next, start ?? next)
      numbers[level - 1] = number
      return number
    }
  }

  private enum ListKind { case number, indent, other }

  /// Parses a list's kind and level, such as `number2`.
  private static func list(_ value: [UInt8]?) -> (kind: ListKind, level: Int)? {
    guard let value else { return nil }
    let word = value.prefix { !(0x30...0x39).contains($0) }
    guard !word.isEmpty, word.count < value.count,
      value[word.count...].allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    let level = number(Array(value[word.count...].prefix(4))) ?? 1
    let kind: ListKind =
      word.elementsEqual("number".utf8)
      ? .number : word.elementsEqual("indent".utf8) ? .indent : .other
    return (kind, min(max(level, 1), levelMax))
  }

  private static func heading(_ value: [UInt8]?) -> Int? {
    guard let value, value.count == 2, value[0] == UInt8(ascii: "h"),
      (0x31...0x36).contains(value[1])
    else { return nil }
    return Int(value[1] - 0x30)
  }

  private static func number(_ digits: [UInt8]) -> Int? {
    guard !digits.isEmpty, digits.count <= 9, digits.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }

  /// Returns the runs of a text; `nil` if they do not match its length.
  private static func runs(of record: Record, length: Int) -> [Run]? {
    guard let attribs = record.attribs else { return nil }
    var attributes: [Int: Int] = [:]
    for (index, attribute) in record.pool.enumerated() { attributes[attribute.number] = index }
    var runs: [Run] = []
    var end = 0
    var index = 0
    func number() -> Int? {
      var number: Int?
      while index < attribs.count, let digit = digit36(attribs[index]) {
        guard (number ?? 0) < 1 << 24 else { return nil }
        number = (number ?? 0) * 36 + digit
        index += 1
      }
      return number
    }
    while index < attribs.count {
      var marks = Marks()
      while index < attribs.count, attribs[index] == UInt8(ascii: "*") {
        index += 1
        guard let name = number() else { return nil }
        if let attribute = attributes[name].map({ record.pool[$0] }) {
          marks.take(attribute.key, attribute.value)
        }
      }
      if index < attribs.count, attribs[index] == UInt8(ascii: "|") {
        index += 1
        guard number() != nil else { return nil }
      }
      guard index < attribs.count, attribs[index] == UInt8(ascii: "+") else { return nil }
      index += 1
      guard let count = number() else { return nil }
      end += count
      guard end <= length else { return nil }
      runs.append(Run(end: end, marks: marks))
    }
    return end == length ? runs : nil
  }

  private static func digit36(_ byte: UInt8) -> Int? {
    switch byte {
    case 0x30...0x39: Int(byte - 0x30)
    case 0x61...0x7a: Int(byte - 0x57)
    default: nil
    }
  }

  /// Returns the length of a text in UTF-16 units.
  private static func units(_ utf8: ArraySlice<UInt8>) -> Int {
    utf8.reduce(0) { $0 + ($1 & 0xc0 == 0x80 ? 0 : $1 >= 0xf0 ? 2 : 1) }
  }
}

extension EtherpadFile.Marks {
  fileprivate mutating func take(_ key: [UInt8], _ value: [UInt8]) {
    if key.elementsEqual("list".utf8) {
      list = value
    } else if key.elementsEqual("heading".utf8) {
      heading = value
    } else if key.elementsEqual("start".utf8) {
      start = value
    } else if key.elementsEqual("lmkr".utf8) {
      isLine = true
    }
  }
}

extension EtherpadFile.Record {
  fileprivate mutating func take(
    _ field: String, _ json: inout LooseJSON
  ) throws(LooseJSON.Broken) {
    if field.utf8.elementsEqual("head".utf8) {
      head = try json.integerOrSkip()
    } else if json.kind != 0x7b {
      try json.skip()
    } else if field.utf8.elementsEqual("atext".utf8) {
      try takeText(&json)
    } else if field.utf8.elementsEqual("pool".utf8) {
      try takePool(&json)
    } else {
      try json.skip()
    }
  }

  private mutating func takeText(_ json: inout LooseJSON) throws(LooseJSON.Broken) {
    var (text, attribs): ([UInt8]?, [UInt8]?)
    try json.object { name, json throws(LooseJSON.Broken) in
      if name.utf8.elementsEqual("text".utf8) {
        text = try json.stringOrSkip()
      } else if name.utf8.elementsEqual("attribs".utf8) {
        attribs = try json.stringOrSkip()
      } else {
        try json.skip()
      }
    }
    (self.text, self.attribs) = (text, attribs)
  }

  private mutating func takePool(_ json: inout LooseJSON) throws(LooseJSON.Broken) {
    var pool: [(number: Int, key: [UInt8], value: [UInt8])] = []
    try json.object { name, json throws(LooseJSON.Broken) in
      guard name.utf8.elementsEqual("numToAttrib".utf8), json.kind == 0x7b else {
        return try json.skip()
      }
      try json.object { number, json throws(LooseJSON.Broken) in
        guard json.kind == 0x5b else { return try json.skip() }
        var pair: [[UInt8]] = []
        try json.array { json throws(LooseJSON.Broken) in
          // A value may be a number; other types are read as empty.
          if json.kind == 0x22 {
            pair.append(try json.string())
          } else {
            pair.append(try json.integerOrSkip().map { Array(String($0).utf8) } ?? [])
          }
        }
        guard pair.count >= 2, let number = Int(number), number >= 0 else { return }
        pool.append((number, pair[0], pair[1]))
      }
    }
    self.pool = pool
  }
}
