import ParleyGatewayPorts

/// The fields of a query; of one that comes twice, the first.
///
/// Written as forms write them: percent-encoded, with `+` for a space. A name without `=` has an empty
/// value.
package struct QueryFields {
  private let text: String

  package init(_ query: String) { text = query }

  /// A number in a query, such as `limit=3`.
  enum Number {
    case absent
    case value(Int)
    case broken

    /// The number, or a default where there is none; `nil` for an invalid number.
    func or(_ other: Int) -> Int? {
      switch self {
      case .absent: other
      case .value(let value): value
      case .broken: nil
      }
    }

    /// The number, `nil` where there is none; nothing at all for an invalid number.
    var optional: Int?? {
      switch self {
      case .absent: .some(nil)
      case .value(let value): value
      case .broken: nil
      }
    }
  }

  /// A field's value, decoded; `nil` if there is none, or its encoding is broken.
  package subscript(name: StaticString) -> String? { value(of: name) ?? nil }

  /// A field's value, decoded; `nil` if there is none. Refuses the request if its encoding is broken.
  func text(_ name: StaticString) throws(Response) -> String? {
    guard let value = value(of: name) else { return nil }
    guard let value else {
      throw .problem(400, .badMessage, "expected \(name) in UTF-8, percent-encoded")
    }
    return value
  }

  /// A field's value as a number that is not negative.
  func number(_ name: StaticString) -> Number {
    guard let value = value(of: name) else { return .absent }
    return value.flatMap(Self.wholeNumber).map(Number.value) ?? .broken
  }

  /// The number of items that a list is to have.
  ///
  /// - Parameter usual: The number where none is asked for.
  func limit(_ usual: Int, max most: Int) throws(Response) -> Int {
    guard let limit = number("limit").or(usual), (1...most).contains(limit) else {
      throw .problem(400, .badMessage, "expected limit from 1 to \(most)")
    }
    return limit
  }

  /// A field's value: nothing at all if there is none, `nil` if its encoding is broken.
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

  /// A number that is not negative, in the range of numbers in messages; `nil` for another text.
  static func wholeNumber(_ text: some StringProtocol) -> Int? {
    Int(text).flatMap { (0...(1 << 53)).contains($0) ? $0 : nil }
  }
}
