package import OTCore
package import ParleyClient

/// Another person's caret, or the piece of text they have selected, as a view draws it.
public struct RemoteCaret: Sendable, Hashable, Identifiable {
  /// A name that stays the same while the caret moves.
  public let id: String
  /// The person's name.
  public let name: String
  /// The person's colour.
  public let color: CaretColor
  /// The caret's place, in UTF-16 units of the view's text.
  public let head: Int
  /// The selected range; empty for a caret alone.
  public let range: Range<Int>
  /// Whether the name is to be shown: the person is writing.
  public let isLabelled: Bool

  /// Carets that are drawn at most; those of people who write come first.
  package static let most = 100

  /// A caret by its place in scalars, which edits move.
  package struct Placed: Sendable {
    package var selection: Selection
    let id: String
    let name: String
    let color: CaretColor
    let isLabelled: Bool

    package func caret(in document: Document) -> RemoteCaret {
      let units = document.selection(selection)
      return RemoteCaret(
        id: id, name: name, color: color, head: units.head, range: units.range,
        isLabelled: isLabelled)
    }
  }

  /// The carets of a note's people in its text. Places beyond the text are its end.
  @MainActor package static func placed(_ people: [Person], in document: Document) -> [Placed] {
    var carets: [Placed] = []
    for person in people.filter(\.isWriting) + people.filter({ !$0.isWriting }) {
      let color = CaretColor(person.color, of: person.id)
      for (index, selection) in person.selections.enumerated() {
        guard carets.count < most else { return carets }
        func scalar(_ unit: Int) -> Int {
          document.scalarOffset(ofUTF16: min(max(unit, 0), document.utf16Count))
        }
        carets.append(
          Placed(
            selection: Selection(anchor: scalar(selection.anchor), head: scalar(selection.head)),
            id: "\(person.id)/\(index)", name: person.name, color: color,
            isLabelled: person.isWriting && index == 0))
      }
    }
    return carets
  }
}

/// A person's colour.
public struct CaretColor: Sendable, Hashable {
  /// The share of red, from 0 to 1.
  public let red: Double
  /// The share of green, from 0 to 1.
  public let green: Double
  /// The share of blue, from 0 to 1.
  public let blue: Double

  /// Reads `#rrggbb`. Without that, a person has one of eight colours, by their id.
  public init(_ hex: String?, of id: String) {
    let value = Self.value(hex) ?? Self.palette[Self.place(of: id)]
    red = Double(value >> 16 & 0xff) / 255
    green = Double(value >> 8 & 0xff) / 255
    blue = Double(value & 0xff) / 255
  }

  /// Whether dark letters are easier to read on it than light ones: the contrast of WCAG 2.
  public var takesDarkText: Bool {
    func linear(_ share: Double) -> Double {
      // A polynomial close to the curve of sRGB, which needs no power function.
      share * (share * (share * 0.305306011 + 0.682171111) + 0.012522878)
    }
    let luminance = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    return (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05)
  }

  private static let palette: [UInt32] = [
    0xd32f2f, 0x7b1fa2, 0x303f9f, 0x0277bd, 0x00796b, 0x558b2f, 0xe65100, 0x5d4037,
  ]

  private static func value(_ hex: String?) -> UInt32? {
    guard let hex, hex.utf8.count == 7, hex.utf8.first == UInt8(ascii: "#"),
      hex.utf8.dropFirst().allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit })
    else { return nil }
    return UInt32(hex.dropFirst(), radix: 16)
  }

  /// The same for an id on every device: `Hasher` has another seed in each process.
  private static func place(of id: String) -> Int {
    var hash: UInt32 = 2_166_136_261
    for byte in id.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
    return Int(hash % UInt32(palette.count))
  }
}

/// The place of a name beside a caret.
public struct CaretLabel: Sendable, Hashable {
  /// The left edge.
  public let x: Double
  /// The upper edge.
  public let y: Double

  /// Places a label above the caret, below it where there is no room, and never beyond the sides.
  ///
  /// - Parameters:
  ///   - caret: The caret's left and upper edge, and its height.
  ///   - size: The label's width and height.
  ///   - bounds: The visible part: left and upper edge, width and height.
  public init(
    caret: (x: Double, y: Double, height: Double), size: (width: Double, height: Double),
    bounds: (x: Double, y: Double, width: Double, height: Double)
  ) {
    x = max(bounds.x, min(caret.x, bounds.x + bounds.width - size.width))
    y = caret.y - size.height >= bounds.y ? caret.y - size.height : caret.y + caret.height
  }
}
