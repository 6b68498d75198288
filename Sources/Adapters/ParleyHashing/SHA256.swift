import CParleyOpenSSL

/// A SHA-256 hash of 32 bytes, as four big-endian words.
public struct SHA256Digest: Sendable, Hashable {
  /// Bytes 0 to 7.
  public let first: UInt64
  /// Bytes 8 to 15.
  public let second: UInt64
  /// Bytes 16 to 23.
  public let third: UInt64
  /// Bytes 24 to 31.
  public let fourth: UInt64

  /// Creates a digest from its words, for example after reading it from a file.
  public init(first: UInt64, second: UInt64, third: UInt64, fourth: UInt64) {
    self.first = first
    self.second = second
    self.third = third
    self.fourth = fourth
  }

  /// All 32 bytes in order.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(32)
    for word in [first, second, third, fourth] {
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
      }
    }
    return bytes
  }
}

/// SHA-256 with a reusable context, for owners that hash many short messages.
///
/// OpenSSL looks up an algorithm by name unless it is passed in. Reusing algorithm and context
/// makes a short hash several times faster. Must be used by one thread at a time.
@safe public struct SHA256: ~Copyable {
  private let algorithm: OpaquePointer
  private let context: OpaquePointer

  /// Creates a context. Traps if OpenSSL fails, since no security is possible without SHA-256.
  public init() {
    guard let algorithm = EVP_MD_fetch(nil, "SHA256", nil), let context = EVP_MD_CTX_new() else {
      fatalError("OpenSSL offers no SHA-256; check the installation of libssl3")
    }
    self.algorithm = algorithm
    self.context = context
  }

  deinit {
    EVP_MD_CTX_free(context)
    EVP_MD_free(algorithm)
  }

  /// Returns the hash of the bytes.
  ///
  /// - Complexity: O(*n*) bytes.
  public func hash(_ bytes: UnsafeRawBufferPointer) -> SHA256Digest {
    withUnsafeTemporaryAllocation(byteCount: 32, alignment: 8) { output in
      guard
        EVP_DigestInit_ex(context, algorithm, nil) == 1,
        EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1,
        EVP_DigestFinal_ex(
          context, output.baseAddress?.assumingMemoryBound(to: UInt8.self), nil) == 1
      else {
        fatalError("OpenSSL failed to hash \(bytes.count) bytes; the machine is out of memory")
      }
      return SHA256Digest(
        first: output.load(fromByteOffset: 0, as: UInt64.self).bigEndian,
        second: output.load(fromByteOffset: 8, as: UInt64.self).bigEndian,
        third: output.load(fromByteOffset: 16, as: UInt64.self).bigEndian,
        fourth: output.load(fromByteOffset: 24, as: UInt64.self).bigEndian)
    }
  }

  /// Returns the hash of the bytes.
  public func hash(_ bytes: [UInt8]) -> SHA256Digest {
    bytes.withUnsafeBytes { hash($0) }
  }
}
