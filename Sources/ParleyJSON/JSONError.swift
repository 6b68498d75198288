/// The reason why bytes are not the expected message. It never contains the sender's text.
@usableFromInline package enum JSONError: Error, Sendable, Equatable {
  /// The bytes at this offset are not JSON.
  case malformed(offset: Int)
  /// At this offset more objects and arrays are nested than allowed.
  case tooDeep(offset: Int)
  /// There are more values than allowed; each number, word, string, object and array counts.
  case tooManyValues(valuesMax: Int)
  /// A field has another type than expected.
  case wrongType(expected: String, offset: Int)
  /// An object has no field of this name.
  case missing(field: String)
  /// A field has the right type, but an invalid value.
  case wrongValue(field: String, expected: String)
  /// The component at this offset makes an operation longer than allowed.
  case tooLong(offset: Int)
  /// An operation has more components than allowed.
  case tooManyComponents(componentsMax: Int)
}
