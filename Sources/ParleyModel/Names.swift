import ParleyJSON

/// Milliseconds since 1970-01-01T00:00:00Z.
public typealias Timestamp = Int64

/// A name that equals another of its type only if it has the same bytes.
///
/// To `String`, é and e with an accent are equal. As names of documents, rooms and users they are two:
/// stores keep them apart, and a right to one is no right to the other.
public protocol ByteName: Hashable, Comparable, Sendable, CustomStringConvertible,
  ExpressibleByStringInterpolation
{
  /// The name as it came.
  var text: String { get }

  /// Takes a text as a name.
  init(_ text: String)
}

extension ByteName {
  /// Takes a literal as a name.
  @inlinable
  public init(stringLiteral text: String) { self.init(text) }

  /// The name itself, so that it can be part of another text.
  @inlinable
  public var description: String { text }

  /// Whether both have the same bytes.
  @inlinable
  public static func == (left: Self, right: Self) -> Bool { areExactlyEqual(left.text, right.text) }

  /// Whether the left one's bytes come first.
  @inlinable
  public static func < (left: Self, right: Self) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }

  /// Hashes the bytes.
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

/// A name that has no type of its own.
@usableFromInline
package struct ExactName: ByteName {
  @usableFromInline package let text: String

  @inlinable
  package init(_ text: String) { self.text = text }
}

/// The name of a room: an opaque string.
public typealias RoomName = String

/// The id of a person: the user of a token, or the client's id without tokens.
public typealias PersonID = String
