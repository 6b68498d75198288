import JSON

/// Milliseconds since 1970-01-01T00:00:00Z.
public typealias Timestamp = Int64

/// A name that equals another only if it has the same bytes.
///
/// To `String`, é and e with an accent are equal. As names of documents, rooms and users they are two:
/// stores keep them apart, and a right to one is no right to the other.
@usableFromInline
package struct ExactName: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The name as it came.
  @usableFromInline package let text: String

  @inlinable
  package init(_ text: String) { self.text = text }

  @inlinable
  package init(stringLiteral text: String) { self.text = text }

  @inlinable
  package static func == (left: Self, right: Self) -> Bool {
    let (left, right) = (left.text.utf8, right.text.utf8)
    let areEqual = left.withContiguousStorageIfAvailable { left in
      right.withContiguousStorageIfAvailable { right in
        Self.areEqual(left, right)
      }
    }
    return areEqual.flatMap { $0 } ?? left.elementsEqual(right)
  }

  /// Compares eight bytes at a time: every look into a dictionary of names compares at least once.
  @usableFromInline
  static func areEqual(
    _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    guard left.count == right.count, let start = left.baseAddress, let other = right.baseAddress
    else { return left.count == right.count }
    return JSONText.isEqual(start, other, left.count)
  }

  @inlinable
  package func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    hasher.combine(UInt8.max)
  }
}

/// The name of a room: an opaque string.
public typealias RoomName = String

/// The id of a person: the user of a token, or the client's id without tokens.
public typealias PersonID = String
