import OTCore
import ParleyJSON

/// The attributes of a piece of text that forms express, decoded; all others are left out.
struct TextStyle {
  /// Text above or below the line.
  enum Script { case sub, superscript }

  /// An embed, which stands for one U+FFFC.
  enum Embed: Equatable {
    /// A picture: the address of a note's file.
    case image([UInt8], alt: [UInt8], width: Int?)
    /// The address of another file of the note.
    case file([UInt8])
    /// A line across the page.
    case rule
    /// A formula in TeX.
    case formula([UInt8])
    /// An embed that no form expresses.
    case unknown
  }

  private(set) var isBold = false
  private(set) var isItalic = false
  private(set) var isUnderlined = false
  private(set) var isStruck = false
  private(set) var isCode = false
  private(set) var script: Script?
  /// Colours, as `#rrggbb`.
  private(set) var color: [UInt8]?
  private(set) var background: [UInt8]?
  private(set) var size: [UInt8]?
  private(set) var font: [UInt8]?
  /// A safe address.
  private(set) var link: [UInt8]?
  /// A person's id.
  private(set) var mention: [UInt8]?
  private(set) var embed: Embed?
  /// The attributes of a line, if the piece is its newline.
  private(set) var line = LineStyle()
  private var alt: [UInt8] = []
  private var width: Int?

  init() {}

  init(_ set: AttributeSet) {
    set.forEach { key, json in
      let value = AttributeValue(json)
      if !read(key, value) { line.read(key, value) }
    }
    if case .image(let address, _, _) = embed {
      embed = .image(address, alt: alt, width: width)
    }
  }

  /// Reads an attribute of text. Returns `false` for any other key.
  private mutating func read(_ key: UnsafeBufferPointer<UInt8>, _ value: AttributeValue) -> Bool {
    if key.isEqual(to: "bold") {
      isBold = value.isTrue
    } else if key.isEqual(to: "italic") {
      isItalic = value.isTrue
    } else if key.isEqual(to: "underline") {
      isUnderlined = value.isTrue
    } else if key.isEqual(to: "strike") {
      isStruck = value.isTrue
    } else if key.isEqual(to: "code") {
      isCode = value.isTrue
    } else if key.isEqual(to: "script") {
      script = value.is("sub") ? .sub : value.is("super") ? .superscript : nil
    } else if key.isEqual(to: "color") {
      color = value.color
    } else if key.isEqual(to: "background") {
      background = value.color
    } else if key.isEqual(to: "size") {
      size = value.oneOf(["small", "large", "huge"])
    } else if key.isEqual(to: "font") {
      font = value.oneOf(["serif", "sans-serif", "monospace"])
    } else if key.isEqual(to: "link") {
      link = value.text.flatMap(LinkAddress.safe)
    } else if key.isEqual(to: "mention") {
      mention = value.text.flatMap { $0.isEmpty ? nil : $0 }
    } else if key.isEqual(to: "embed") {
      embed = Self.embed(value)
    } else if key.isEqual(to: "alt") {
      alt = value.text ?? []
    } else if key.isEqual(to: "width") {
      width = value.number.flatMap { 1...10_000 ~= $0 ? $0 : nil }
    } else {
      return false
    }
    return true
  }

  private static func embed(_ value: AttributeValue) -> Embed {
    guard let (kind, content) = value.field else { return .unknown }
    let text = content.text ?? []
    if kind.isEqual(to: "image") {
      return LinkAddress.file(text).map { .image($0, alt: [], width: nil) } ?? .unknown
    }
    if kind.isEqual(to: "file") { return LinkAddress.file(text).map { .file($0) } ?? .unknown }
    if kind.isEqual(to: "rule") { return .rule }
    if kind.isEqual(to: "formula"), !text.isEmpty { return .formula(text) }
    return .unknown
  }
}

/// The attributes of a line, decoded.
struct LineStyle: Equatable {
  /// The kind of a line. Unknown kinds are plain.
  enum Kind: Equatable { case plain, heading(Int), bullet, ordered, task, done, quote, code }

  private(set) var kind = Kind.plain
  /// The depth, 0 to 8.
  private(set) var indent = 0
  private(set) var align: [UInt8]?
  private(set) var direction: [UInt8]?
  /// The language of code, if its name has only ASCII letters, digits and `+ # . _ -`.
  private(set) var language: [UInt8]?

  mutating func read(_ key: UnsafeBufferPointer<UInt8>, _ value: AttributeValue) {
    if key.isEqual(to: "block") {
      kind = Self.kind(value)
    } else if key.isEqual(to: "indent") {
      indent = value.number.flatMap { 1...8 ~= $0 ? $0 : nil } ?? 0
    } else if key.isEqual(to: "align") {
      align = value.oneOf(["left", "center", "right", "justify"])
    } else if key.isEqual(to: "direction") {
      direction = value.oneOf(["ltr", "rtl"])
    } else if key.isEqual(to: "language") {
      language = value.text.flatMap { Self.isLanguage($0) ? $0 : nil }
    }
  }

  /// Whether a line of a list.
  var isListItem: Bool {
    switch kind {
    case .bullet, .ordered, .task, .done: true
    case .plain, .heading, .quote, .code: false
    }
  }

  private static func kind(_ value: AttributeValue) -> Kind {
    guard let text = value.text else { return .plain }
    if text.count == 2, text[0] == UInt8(ascii: "h"),
      UInt8(ascii: "1")...UInt8(ascii: "6") ~= text[1]
    {
      return .heading(Int(text[1] - UInt8(ascii: "0")))
    }
    if text.isEqual(to: "bullet") { return .bullet }
    if text.isEqual(to: "ordered") { return .ordered }
    if text.isEqual(to: "task") { return .task }
    if text.isEqual(to: "done") { return .done }
    if text.isEqual(to: "quote") { return .quote }
    return text.isEqual(to: "code") ? .code : .plain
  }

  private static func isLanguage(_ name: [UInt8]) -> Bool {
    1...40 ~= name.count
      && name.allSatisfy { Characters.isAlphanumeric($0) || "+#._-".utf8.contains($0) }
  }
}

/// The value of an attribute, as JSON.
struct AttributeValue {
  private let json: UnsafeBufferPointer<UInt8>

  init(_ json: UnsafeBufferPointer<UInt8>) { self.json = json }

  var isTrue: Bool { json.isEqual(to: "true") }

  /// The text of a string.
  var text: [UInt8]? {
    guard json.first == UInt8(ascii: "\"") else { return nil }
    var reader = JSONReader(json)
    return (try? reader.text())?.withUTF8 { Array($0) }
  }

  var number: Int? {
    var reader = JSONReader(json)
    return try? reader.integer()
  }

  func `is`(_ expected: StaticString) -> Bool { text?.isEqual(to: expected) ?? false }

  /// The text, if it is one of these.
  func oneOf(_ expected: [StaticString]) -> [UInt8]? {
    guard let text, expected.contains(where: { text.isEqual(to: $0) }) else { return nil }
    return text
  }

  /// The text, if it is a colour such as `#1a2b3c`.
  var color: [UInt8]? {
    guard let text, text.count == 7, text[0] == UInt8(ascii: "#"),
      text[1...].allSatisfy({ byte in
        Characters.isDigit(byte) || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte | 0x20
      })
    else { return nil }
    return text
  }

  /// The key and the value of an object with one key.
  var field: (key: [UInt8], value: AttributeValue)? {
    var reader = JSONReader(json)
    guard reader.isAtObject(), (try? reader.beginObject()) == true, let key = try? reader.key(),
      let range = try? reader.skipValue()
    else { return nil }
    return (key.withUTF8 { Array($0) }, AttributeValue(UnsafeBufferPointer(rebasing: json[range])))
  }
}
