public import ParleyGatewayPorts
import ParleyHashing

/// Random names of 22 letters and digits, which contain 130 bits.
///
/// Must be used by one thread at a time, since random bytes are generated in blocks.
public final class RandomNames: NameSource {
  private static let alphabet = Array(
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
  private static let length = 22

  private var pool: [UInt8] = []

  /// Creates a source of names.
  public init() {}

  /// Returns a new random name.
  public func next() -> String {
    String(unsafeUninitializedCapacity: Self.length) { buffer in
      var filled = 0
      while filled < Self.length {
        // Reject bytes from 248, the largest multiple of 62, so that letters are equally likely.
        guard let byte = draw(), byte < 248 else { continue }
        buffer[filled] = Self.alphabet[Int(byte % 62)]
        filled += 1
      }
      return filled
    }
  }

  private func draw() -> UInt8? {
    if pool.isEmpty { pool = randomBytes(count: 512) }
    return pool.popLast()
  }
}
