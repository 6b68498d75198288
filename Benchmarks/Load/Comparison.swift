import Glibc

extension UnsafeRawBufferPointer {
  /// Whether the bytes are equal. One `memcmp`, since every message is compared.
  func holds(_ bytes: [UInt8]) -> Bool {
    guard count == bytes.count else { return false }
    return bytes.withUnsafeBytes { other in
      guard let left = baseAddress, let right = other.baseAddress else { return true }
      return memcmp(left, right, count) == 0
    }
  }
}
