package import ParleyJSON

/// Reading the JSON of a request's body.
package enum JSONBody {
  /// JSON values of a body that are skipped or kept as they are, at most: values that are read by their
  /// type have limits of their own.
  package static let valuesMax = 100_000

  /// A value from a body; `nil` if the body is no JSON, or `read` throws.
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

  /// The text of one field of a body, whose other fields are skipped: clients may send as many as fit.
  package static func string(_ name: StaticString, in body: [UInt8]) -> String? {
    let found = fields(in: body, String?.none) { text, key, reader throws(JSONError) in
      if key == name { text = try reader.string() } else { try reader.skipValue() }
    }
    return found ?? nil
  }

  /// The fields of a body; `nil` if it is no JSON object, or one of them has another type.
  ///
  /// - Parameters:
  ///   - fields: The values of fields that the body lacks.
  ///   - take: Reads the value of a key, or skips it.
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
