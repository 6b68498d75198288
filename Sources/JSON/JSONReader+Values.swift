/// Values that objects are made of.
extension JSONReader {
  /// Reads a string, or `null` as none.
  @inlinable package mutating func optionalString() throws(JSONError) -> String? {
    try isNull() ? nil : try string()
  }

  /// Reads an integer, or `null` as none.
  @inlinable package mutating func optionalInteger() throws(JSONError) -> Int? {
    try isNull() ? nil : try integer()
  }

  /// Reads `true` or `false`, or `null` as none.
  @inlinable package mutating func optionalBoolean() throws(JSONError) -> Bool? {
    try isNull() ? nil : try boolean()
  }

  /// Reads milliseconds since 1970, or `null` as none.
  @inlinable package mutating func optionalTime() throws(JSONError) -> Int64? {
    try isNull() ? nil : try integer(as: Int64.self)
  }

  /// Reads an array of strings.
  @inlinable package mutating func strings() throws(JSONError) -> [String] {
    try list { reader throws(JSONError) in try reader.string() }
  }

  /// Reads an array into a list.
  @inlinable package mutating func list<Element>(
    _ element: (inout JSONReader) throws(JSONError) -> Element
  ) throws(JSONError) -> [Element] {
    var elements: [Element] = []
    try array { reader throws(JSONError) in elements.append(try element(&reader)) }
    return elements
  }
}

extension Optional {
  /// The value of a field that its object must have.
  @inlinable package func required(_ field: StaticString) throws(JSONError) -> Wrapped {
    guard let self else { throw .missing(field: "\(field)") }
    return self
  }
}

extension Optional<String> {
  /// The word in a field that its object must have, among those known here.
  @inlinable package func word<Word: RawRepresentable<String> & CaseIterable>(
    _ field: StaticString
  ) throws(JSONError) -> Word {
    guard let word = Word(rawValue: try required(field)) else {
      let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
      throw .wrongValue(field: "\(field)", expected: "one of \(words)")
    }
    return word
  }
}
