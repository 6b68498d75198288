/// Why bytes are not the message they should be. Never holds any of the sender's text.
@usableFromInline package enum JSONError: Error, Sendable, Equatable {
  /// The bytes at this offset are not JSON.
  case malformed(offset: Int)
  /// More objects and arrays are open at this offset than a message may have.
  case tooDeep(offset: Int)
  /// There are more values than may be read; each number, word, string, object and array counts.
  case tooManyValues(valuesMax: Int)
  /// A field holds another type than expected.
  case wrongType(expected: String, offset: Int)
  /// An object lacks a field.
  case missing(field: String)
  /// A field holds the right type and still nothing that it may hold.
  case wrongValue(field: String, expected: String)
  /// The part of an operation at this offset makes it longer than an operation can be.
  case tooLong(offset: Int)
  /// An operation has more components than one may have.
  case tooManyComponents(componentsMax: Int)
}
