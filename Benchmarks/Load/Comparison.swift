import Glibc

extension UnsafeRawBufferPointer {
  /// Whether the two are the same bytes: one comparison of memory, since every message is compared.
  func holds(_ bytes: [UInt8]) -> Bool {
    guard count == bytes.count else { return false }
    return bytes.withUnsafeBytes { other in
      guard let left = baseAddress, let right = other.baseAddress else { return true }
      return memcmp(left, right, count) == 0
    }
  }
}
