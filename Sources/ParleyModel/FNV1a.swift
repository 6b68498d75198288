/// The 64-bit FNV-1a hash, which is the same in every process and every version.
///
/// Logs, entity tags of pages, and nodes that share a broker depend on its values. It is not
/// cryptographic: collisions are easy to construct.
@frozen
@usableFromInline
package struct FNV1a: Sendable {
  /// The hash of the bytes so far.
  @usableFromInline package var value: UInt64

  /// Creates the hash of an empty sequence.
  ///
  /// - Parameter start: A number that distinguishes this hash from others of the same bytes.
  @inlinable
  package init(start: UInt64 = 0) { value = 0xcbf2_9ce4_8422_2325 &+ start }

  /// Creates a hash that continues from an earlier value.
  @inlinable
  package init(continuing value: UInt64) { self.value = value }

  /// Creates the hash of bytes.
  @inlinable
  package init(_ bytes: some Sequence<UInt8>, start: UInt64 = 0) {
    self.init(start: start)
    for byte in bytes { combine(byte) }
  }

  /// Adds a byte, or a whole word in one step.
  @inlinable
  package mutating func combine(_ word: some FixedWidthInteger & UnsignedInteger) {
    value = (value ^ UInt64(word)) &* 0x0000_0100_0000_01b3
  }
}
