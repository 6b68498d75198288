/// Why bytes are not the message they should be. Never holds any of the sender's text.
package enum JSONError: Error, Sendable, Equatable {
  /// What stands at this offset is no JSON.
  case malformed(offset: Int)
  /// More objects and arrays are open at this offset than a message may have.
  case tooDeep(offset: Int)
  /// A field holds another type than expected.
  case wrongType(expected: String, offset: Int)
  /// An object within a field lacks one of its own.
  case missing(field: String)
  /// The part of an operation at this offset makes it longer than an operation can be.
  case tooLong(offset: Int)
}
