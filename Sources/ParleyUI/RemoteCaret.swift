package import OTCore
package import ParleyClient

/// Another person's caret or selection, for drawing.
public struct RemoteCaret: Sendable, Hashable, Identifiable {
  /// An id that remains the same while the caret moves.
  public let id: String
  /// The person's name.
  public let name: String
  /// The person's colour.
  public let color: CaretColor
  /// The caret's position, in UTF-16 units of the view's text.
  public let head: Int
  /// The selected range; empty for a caret alone.
  public let range: Range<Int>
  /// Whether the name is shown, because the person is writing.
  public let isLabelled: Bool

  package init(
    id: String, name: String, color: CaretColor, head: Int, range: Range<Int>, isLabelled: Bool
  ) {
    self.id = id
    self.name = name
    self.color = color
    self.head = head
    self.range = range
    self.isLabelled = isLabelled
  }

  /// Maximum drawn carets; those of people who are writing come first.
  package static let most = 100

  /// A caret by its position in scalars, which is transformed by edits.
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

  /// Returns the carets of a note's people in a text. Positions beyond its end are moved there.
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

/// The part of a caret that lies in the visible text. What lies outside is not laid out.
package struct VisibleCaret: Sendable, Hashable {
  package let caret: RemoteCaret
  /// Whether the caret itself is visible, and not only a part of its selection.
  package let isHeadVisible: Bool
  /// The visible part of the selection.
  package let range: Range<Int>

  /// Returns the carets that are at least partly visible.
  ///
  /// - Parameter units: The visible text, in UTF-16 units.
  package static func visible(_ carets: [RemoteCaret], in units: Range<Int>) -> [VisibleCaret] {
    carets.compactMap { caret in
      let isHeadVisible = units.contains(caret.head) || caret.head == units.upperBound
      let range = caret.range.clamped(to: units)
      guard isHeadVisible || !range.isEmpty else { return nil }
      return VisibleCaret(caret: caret, isHeadVisible: isHeadVisible, range: range)
    }
  }
}

/// A person's colour.
public struct CaretColor: Sendable, Hashable {
  /// The red component, from 0 to 1.
  public let red: Double
  /// The green component, from 0 to 1.
  public let green: Double
  /// The blue component, from 0 to 1.
  public let blue: Double

  /// Creates a colour from `#rrggbb`; otherwise one of eight, determined by the person's id.
  public init(_ hex: String?, of id: String) {
    self.init(Self.value(hex) ?? Self.palette[Self.place(of: id)])
  }

  /// Creates a colour from `#rrggbb`; `nil` for any other text.
  public init?(hex: String) {
    guard let value = Self.value(hex) else { return nil }
    self.init(value)
  }

  private init(_ value: UInt32) {
    red = Double(value >> 16 & 0xff) / 255
    green = Double(value >> 8 & 0xff) / 255
    blue = Double(value & 0xff) / 255
  }

  /// Whether dark text has more contrast on the colour than white text, according to WCAG 2.
  public var takesDarkText: Bool {
    func linear(_ share: Double) -> Double {
      // A polynomial that approximates the sRGB transfer function without a power function.
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

  /// Returns an index that is equal for an id on all devices; `Hasher` has a random seed.
  private static func place(of id: String) -> Int {
    var hash: UInt32 = 2_166_136_261
    for byte in id.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
    return Int(hash % UInt32(palette.count))
  }
}

/// The position of a name beside a caret.
public struct CaretLabel: Sendable, Hashable {
  /// The left edge.
  public let x: Double
  /// The upper edge.
  public let y: Double

  /// Places a label above the caret, or below if there is no space, within the view's sides.
  ///
  /// - Parameters:
  ///   - caret: The caret's left and upper edge, and its height.
  ///   - size: The label's width and height.
  ///   - bounds: The visible rectangle: its left and upper edge, width and height.
  public init(
    caret: (x: Double, y: Double, height: Double), size: (width: Double, height: Double),
    bounds: (x: Double, y: Double, width: Double, height: Double)
  ) {
    x = max(bounds.x, min(caret.x, bounds.x + bounds.width - size.width))
    y = caret.y - size.height >= bounds.y ? caret.y - size.height : caret.y + caret.height
  }
}
