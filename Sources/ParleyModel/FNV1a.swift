/// FNV-1a with 64 bits: a hash that is the same in every process and in every version.
///
/// Logs, pages' tags and nodes that share a broker depend on its values. It is not for secrets, and anyone can make two
/// texts with one hash.
@frozen
@usableFromInline
package struct FNV1a: Sendable {
  /// The hash of the bytes so far.
  @usableFromInline package var value: UInt64

  /// Begins a hash of nothing.
  ///
  /// - Parameter start: A number that makes this hash differ from others of the same bytes.
  @inlinable
  package init(start: UInt64 = 0) { value = 0xcbf2_9ce4_8422_2325 &+ start }

  /// Continues a hash.
  @inlinable
  package init(continuing value: UInt64) { self.value = value }

  /// Hashes bytes.
  @inlinable
  package init(_ bytes: some Sequence<UInt8>, start: UInt64 = 0) {
    self.init(start: start)
    for byte in bytes { combine(byte) }
  }

  /// Adds a byte, or a word in one step.
  @inlinable
  package mutating func combine(_ word: some FixedWidthInteger & UnsignedInteger) {
    value = (value ^ UInt64(word)) &* 0x0000_0100_0000_01b3
  }
}
