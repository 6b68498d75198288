public import ParleyGatewayPorts
import ParleyHashing

/// Names of 22 letters and digits: 130 unpredictable bits.
///
/// One thread at a time: random bytes are drawn in blocks.
public final class RandomNames: NameSource {
  private static let alphabet = Array(
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
  private static let length = 22

  private var pool: [UInt8] = []

  /// Makes a source of names.
  public init() {}

  /// Returns a new name.
  public func next() -> String {
    String(unsafeUninitializedCapacity: Self.length) { buffer in
      var filled = 0
      while filled < Self.length {
        // 248 is the largest multiple of 62 in a byte: the rest would favour some letters.
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
