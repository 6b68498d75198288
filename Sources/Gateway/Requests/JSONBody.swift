package import ParleyJSON

/// Decoding of JSON in request bodies.
package enum JSONBody {
  /// Maximum values of a body that are skipped or copied undecoded. Decoded values have their own
  /// limits.
  package static let valuesMax = 100_000

  /// Decodes a value from a body; `nil` if the body is not JSON, or `read` throws.
  package static func value<Value>(
    in body: [UInt8], _ read: (inout JSONReader) throws(JSONError) -> Value
  ) -> Value? {
    body.withUnsafeBufferPointer { bytes in
      var reader = JSONReader(bytes)
      reader.limitValues(to: valuesMax)
      do throws(JSONError) {
        let value = try read(&reader)
        try reader.finish()
        return value
      } catch {
        return nil
      }
    }
  }

  /// Returns the text of one field of a body, and skips all others, however many there are.
  package static func string(_ name: StaticString, in body: [UInt8]) -> String? {
    let found = fields(in: body, String?.none) { text, key, reader throws(JSONError) in
      if key == name { text = try reader.string() } else { try reader.skipValue() }
    }
    return found ?? nil
  }

  /// Decodes the fields of a body; `nil` if it is not a JSON object, or a field has the wrong type.
  ///
  /// - Parameters:
  ///   - fields: The initial values, which fields missing in the body retain.
  ///   - take: Decodes or skips the value of a key.
  package static func fields<Fields>(
    in body: [UInt8], _ fields: Fields,
    _ take: (inout Fields, JSONText, inout JSONReader) throws(JSONError) -> Void
  ) -> Fields? {
    value(in: body) { reader throws(JSONError) in
      var fields = fields
      try reader.object { key, reader throws(JSONError) in try take(&fields, key, &reader) }
      return fields
    }
  }
}
