/// The reason why an operation could not be built, read or used. Nothing has changed after an
/// error.
public enum OperationError: Error, Sendable, Equatable {
  /// Two lengths that must be equal differ, in Unicode scalars.
  case lengthMismatch(expected: Int, found: Int)
  /// The bytes at this offset are not UTF-8.
  case invalidUTF8(offset: Int)
  /// The bytes at this offset are not an operation's JSON form.
  case malformed(offset: Int)
  /// A length exceeds the maximum of an operation.
  case tooLong
  /// The document would have more attribute sets than this maximum.
  case tooManySets(max: Int)
  /// The document would have more runs of attributes than this maximum.
  case tooManyRuns(max: Int)
  /// A part of the document would have more attributes than this maximum.
  case tooManyKeys(max: Int)
}
