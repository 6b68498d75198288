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
        Self.areEqual(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
      }
    }
    return areEqual.flatMap { $0 } ?? left.elementsEqual(right)
  }

  /// Compares eight bytes at a time: every look into a dictionary of names compares at least once.
  @usableFromInline
  static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    guard left.count == right.count else { return false }
    var place = 0
    while place + 8 <= left.count {
      guard
        left.loadUnaligned(fromByteOffset: place, as: UInt64.self)
          == right.loadUnaligned(fromByteOffset: place, as: UInt64.self)
      else { return false }
      place += 8
    }
    while place < left.count {
      guard left[place] == right[place] else { return false }
      place += 1
    }
    return true
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

/// The id of a person: the user of a token, or a client's id where nobody has one.
public typealias PersonID = String
