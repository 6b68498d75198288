/// Why an operation could not be built, read or used. Nothing has changed when one is thrown.
public enum OperationError: Error, Sendable, Equatable {
  /// Two lengths that must meet do not, in Unicode scalars.
  case lengthMismatch(expected: Int, found: Int)
  /// The bytes at this offset are not UTF-8.
  case invalidUTF8(offset: Int)
  /// The bytes at this offset are not an operation's JSON form.
  case malformed(offset: Int)
  /// A length passes what an operation can hold.
  case tooLong
}
