/// The reason why a form of a formatted text was not written.
package enum FormError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The form is longer than allowed, in bytes.
  case tooLarge(bytesMax: Int)

  /// The expected value, the actual value, and the remedy.
  package var description: String {
    switch self {
    case .tooLarge(let bytesMax):
      "this form of the text has more than \(bytesMax) bytes; read the text without formatting"
    }
  }
}

/// The limit of a form's length. A text of 200,000 runs with long links would take gigabytes.
package enum FormLimits {
  /// Maximum bytes of a form.
  package static let bytesMax = 64 << 20
}

extension [UInt8] {
  /// Appends ASCII text.
  mutating func put(_ text: StaticString) {
    append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends a number in decimal digits.
  mutating func put(_ number: Int) { append(contentsOf: String(number).utf8) }
}

extension Collection<UInt8> {
  /// Whether the bytes equal those of an ASCII text.
  func isEqual(to text: StaticString) -> Bool {
    elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}
