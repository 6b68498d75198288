import ParleyGatewayPorts

/// The fields of a query. If a field is repeated, the first counts.
///
/// The encoding is that of forms: percent-encoded, with `+` for a space. A name without `=` has an
/// empty value.
package struct QueryFields {
  private let text: String

  package init(_ query: String) { text = query }

  /// A number in a query, such as `limit=3`.
  enum Number {
    case absent
    case value(Int)
    case broken

    /// Returns the number, or a default if the field is absent; `nil` for an invalid number.
    func or(_ other: Int) -> Int? {
      switch self {
      case .absent: other
      case .value(let value): value
      case .broken: nil
      }
    }

    /// The number; `.some(nil)` if the field is absent, `nil` for an invalid number.
    var optional: Int?? {
      switch self {
      case .absent: .some(nil)
      case .value(let value): value
      case .broken: nil
      }
    }
  }

  /// A field's decoded value; `nil` if it is absent, or its encoding is invalid.
  package subscript(name: StaticString) -> String? { value(of: name) ?? nil }

  /// Returns a field's decoded value; `nil` if it is absent. Throws if its encoding is invalid.
  func text(_ name: StaticString) throws(Response) -> String? {
    guard let value = value(of: name) else { return nil }
    guard let value else {
      throw .problem(400, .badMessage, "expected \(name) in UTF-8, percent-encoded")
    }
    return value
  }

  /// Returns a field's value as a non-negative number.
  func number(_ name: StaticString) -> Number {
    guard let value = value(of: name) else { return .absent }
    return value.flatMap(Self.wholeNumber).map(Number.value) ?? .broken
  }

  /// Returns the requested number of items of a list.
  ///
  /// - Parameter usual: The default.
  func limit(_ usual: Int, max most: Int) throws(Response) -> Int {
    guard let limit = number("limit").or(usual), (1...most).contains(limit) else {
      throw .problem(400, .badMessage, "expected limit from 1 to \(most)")
    }
    return limit
  }

  /// Returns a field's value: `nil` if it is absent, `.some(nil)` if its encoding is invalid.
  private func value(of name: StaticString) -> String?? {
    let bytes = text.utf8
    var start = bytes.startIndex
    while start < bytes.endIndex {
      let end = bytes[start...].firstIndex(of: UInt8(ascii: "&")) ?? bytes.endIndex
      let pair = bytes[start..<end]
      start = end < bytes.endIndex ? bytes.index(after: end) : end
      guard name.withUTF8Buffer({ pair.starts(with: $0) }) else { continue }
      let rest = pair.dropFirst(name.utf8CodeUnitCount)
      if rest.isEmpty, !pair.isEmpty { return "" }
      guard rest.first == UInt8(ascii: "=") else { continue }
      return .some(PercentEncoding.decoded(inQuery: Substring(rest.dropFirst())))
    }
    return nil
  }

  /// Returns a number from 0 to 2^53, the range of numbers in messages; `nil` for another text.
  static func wholeNumber(_ text: some StringProtocol) -> Int? {
    Int(text).flatMap { (0...(1 << 53)).contains($0) ? $0 : nil }
  }
}
