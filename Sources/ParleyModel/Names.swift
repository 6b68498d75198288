import ParleyJSON

/// Milliseconds since 1970-01-01T00:00:00Z.
public typealias Timestamp = Int64

/// A name that is compared by its bytes.
///
/// `String` treats é and e with a combining accent as equal. As names of documents, rooms and users
/// they are different: stores separate them, and a right to one is not a right to the other.
public protocol ByteName: Hashable, Comparable, Sendable, CustomStringConvertible,
  ExpressibleByStringInterpolation
{
  /// The name as received.
  var text: String { get }

  /// Creates a name without checking the text.
  init(_ text: String)
}

extension ByteName {
  /// Creates a name from a literal.
  @inlinable
  public init(stringLiteral text: String) { self.init(text) }

  /// The name, for interpolation into another text.
  @inlinable
  public var description: String { text }

  /// Whether both names have the same bytes.
  @inlinable
  public static func == (left: Self, right: Self) -> Bool { areExactlyEqual(left.text, right.text) }

  /// Whether the left name precedes the right one, byte by byte.
  @inlinable
  public static func < (left: Self, right: Self) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }

  /// Hashes the bytes of the name.
  @inlinable
  public func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    hasher.combine(UInt8.max)
  }
}

/// Whether two texts have the same bytes.
@usableFromInline
func areExactlyEqual(_ one: String, _ other: String) -> Bool { one.isExactly(other) }

/// A name without a more specific type.
@usableFromInline
package struct ExactName: ByteName {
  @usableFromInline package let text: String

  @inlinable
  package init(_ text: String) { self.text = text }
}

/// The id of a document's or a room's history. Another epoch means another history.
public struct Epoch: ByteName {
  /// The text of the id.
  public var text: String

  /// Creates an id without checking the text.
  @inlinable
  public init(_ text: String) { self.text = text }
}

/// The name of a room: an opaque string.
public struct RoomName: ByteName {
  /// The name as received.
  public var text: String

  /// Creates a name without checking the text.
  @inlinable
  public init(_ text: String) { self.text = text }
}

/// The id of a person: a token's user, or the client's id if tokens are not used.
public struct PersonID: ByteName {
  /// The text of the id.
  public var text: String

  /// Creates an id without checking the text.
  @inlinable
  public init(_ text: String) { self.text = text }
}
