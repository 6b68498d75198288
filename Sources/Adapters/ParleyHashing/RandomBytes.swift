import CParleyOpenSSL

/// Returns cryptographically secure random bytes.
///
/// Traps if OpenSSL cannot generate random bytes: predictable names and secrets could be guessed.
public func randomBytes(count: Int) -> [UInt8] {
  guard count > 0 else { return [] }
  return [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
    guard RAND_bytes(buffer.baseAddress, Int32(count)) == 1 else {
      fatalError("OpenSSL cannot generate random bytes; check that /dev/urandom can be read")
    }
    initializedCount = count
  }
}
