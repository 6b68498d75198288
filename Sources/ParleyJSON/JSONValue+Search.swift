/// Reading and changing an object in one pass, without a list of all its fields.
///
/// The server uses only these functions for JSON from clients. A list needs three allocations for
/// each field, and a message can contain a million fields.
extension JSONValue {
  /// Checks that bytes are one JSON value, nested at most ``depthMax`` deep.
  ///
  /// - Parameter valuesMax: Maximum values, including itself and all nested ones.
  package init(
    _ bytes: UnsafeBufferPointer<UInt8>, valuesMax: Int
  ) throws(JSONError) {
    var reader = JSONReader(bytes)
    reader.limitValues(to: valuesMax)
    let value = try reader.value()
    try reader.finish()
    self = value
  }

  /// Reads the fields of an object.
  ///
  /// - Parameter body: Reads or skips the value of each key. An error makes the result `false`.
  /// - Returns: Whether the value is an object, and `body` has read it to the end.
  @discardableResult
  package func forEachField(
    _ body: (JSONText, inout JSONReader) throws(JSONError) -> Void
  ) -> Bool {
    read { reader throws(JSONError) in try reader.object(body) } != nil
  }

  /// Returns the values of fields, in the order of the names; of a repeated name, the last one.
  ///
  /// - Returns: `nil` for a value that is not an object.
  /// - Complexity: O(*n*) bytes, and one comparison of lengths for each field and name.
  package func values(of names: StaticString...) -> [JSONValue?]? {
    var values = [JSONValue?](repeating: nil, count: names.count)
    let isObject = forEachField { key, reader throws(JSONError) in
      guard let index = names.firstIndex(where: { key == $0 }) else {
        try reader.skipValue()
        return
      }
      values[index] = try reader.value()
    }
    return isObject ? values : nil
  }

  /// Returns the value of a field; of a repeated name, the last one.
  package func value(of name: StaticString) -> JSONValue? { values(of: name)?[0] }

  /// Returns the object with other values for some of its fields; missing fields are appended.
  ///
  /// A repeated name gets the new value each time, so it does not matter which one a reader uses.
  ///
  /// - Returns: The value itself if it is not an object.
  /// - Complexity: O(*n*) bytes, and one comparison of lengths for each field and name.
  package func replacing(
    _ fields: [JSONFields.Field], removing removed: StaticString? = nil
  ) -> JSONValue {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(utf8.count + 64)
    var isLacking = [Bool](repeating: true, count: fields.count)
    var object = JSONWriter.Object()
    bytes.append(UInt8(ascii: "{"))
    let isObject = forEachField { key, reader throws(JSONError) in
      let value = try reader.skipValue()
      if let removed, key == removed { return }
      object.key(asRead: key, &bytes)
      if let index = fields.firstIndex(where: { key.isEqual(to: $0.name) }) {
        isLacking[index] = false
        bytes.append(contentsOf: fields[index].value.utf8)
      } else {
        bytes.append(contentsOf: reader.bytes[value])
      }
    }
    guard isObject else { return self }
    for (field, isLacking) in zip(fields, isLacking) where isLacking {
      object.key(named: field.name, &bytes)
      bytes.append(contentsOf: field.value.utf8)
    }
    bytes.append(UInt8(ascii: "}"))
    return JSONValue(trusted: bytes)
  }

  /// Returns the first elements of an array; `nil` for a value that is not an array.
  ///
  /// - Parameter countMax: Maximum elements to read; later ones are not checked.
  package func firstElements(_ countMax: Int) -> [JSONValue]? {
    read { reader throws(JSONError) in
      var elements: [JSONValue] = []
      guard try reader.beginArray() else { return elements }
      repeat {
        guard elements.count < countMax else { return elements }
        elements.append(try reader.value())
      } while try reader.nextElement()
      return elements
    }
  }

  /// Returns the number of an array's elements, at most `countMax`; `nil` for other values.
  package func elementCount(upTo countMax: Int) -> Int? {
    read { reader throws(JSONError) in
      var count = 0
      guard try reader.beginArray() else { return count }
      repeat {
        try reader.skipValue()
        count += 1
        guard count < countMax else { return count }
      } while try reader.nextElement()
      return count
    }
  }

  /// Whether the value is an array.
  package var isArray: Bool { utf8.first == UInt8(ascii: "[") }
}

extension JSONReader {
  /// Reads a string; `nil` for another value or a longer string, which is skipped.
  ///
  /// - Parameter bytesMax: Maximum bytes between the quotes, as received.
  package mutating func stringIfAny(bytesMax: Int = .max) throws(JSONError) -> String? {
    guard isAtString else {
      try skipValue()
      return nil
    }
    try countValue()
    let text = try text()
    return text.content.count <= bytesMax ? text.string : nil
  }

  /// Reads an integer that a double represents exactly; `nil` for another value, which is skipped.
  package mutating func integerIfAny() throws(JSONError) -> Int? {
    let range = try skipValue()
    var number = JSONReader(bytes, range: range)
    do throws(JSONError) { return try number.integer() } catch { return nil }
  }

  /// Reads the strings of an array, and skips its other elements; `nil` for other values.
  ///
  /// - Throws: `tooManyValues` if the array has more than `countMax` elements.
  package mutating func stringsIfAny(countMax: Int) throws(JSONError) -> [String]? {
    guard current == UInt8(ascii: "[") else {
      try skipValue()
      return nil
    }
    try countValue()
    var strings: [String] = []
    var count = 0
    guard try beginArray() else { return strings }
    repeat {
      count += 1
      guard count <= countMax else { throw .tooManyValues(valuesMax: countMax) }
      if let string = try stringIfAny() { strings.append(string) }
    } while try nextElement()
    return strings
  }

  /// Reads the fields of an object, or skips another value.
  package mutating func objectIfAny(
    _ body: (JSONText, inout JSONReader) throws(JSONError) -> Void
  ) throws(JSONError) {
    guard current == UInt8(ascii: "{") else {
      try skipValue()
      return
    }
    try countValue()
    try object(body)
  }
}
