import CParleyZlib

/// Compresses in the gzip format (RFC 1952).
public enum Gzip {
  /// The usual balance of time and size.
  private static let level: Int32 = 6
  /// The beginning and the end of a member, and of the blocks between, are below this.
  private static let overheadMax = 1_024

  /// Returns the compressed bytes, or `nil` if there is no memory for it.
  ///
  /// - Parameter repeatingCount: The number of bytes at the beginning in which repetitions are found. Those that follow
  ///   are compressed by their letters alone: their compressed length tells how often each letter occurs in them, and
  ///   not what they have in common with each other, or with the beginning.
  /// - Complexity: O(*n*): up to 35 ms for a megabyte.
  public static func compressed(_ bytes: [UInt8], repeatingCount: Int) -> [UInt8]? {
    precondition((0...bytes.count).contains(repeatingCount), "\(repeatingCount) of \(bytes.count)")
    var stream = z_stream()
    guard CZlib_beginGzip(&stream, level) == Z_OK else { return nil }
    defer { deflateEnd(&stream) }
    let capacity = Int(deflateBound(&stream, UInt(bytes.count))) + overheadMax
    var isWhole = false
    let packed = [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
      bytes.withUnsafeBufferPointer { input in
        stream.next_out = output.baseAddress
        stream.avail_out = UInt32(output.count)
        stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
        stream.avail_in = UInt32(repeatingCount)
        guard deflate(&stream, Z_NO_FLUSH) == Z_OK || repeatingCount == 0,
          // Ends the block, so that nothing of it is repeated by what follows.
          deflateParams(&stream, level, Z_HUFFMAN_ONLY) == Z_OK
        else { return }
        stream.avail_in = UInt32(input.count - repeatingCount)
        isWhole = deflate(&stream, Z_FINISH) == Z_STREAM_END
      }
      count = isWhole ? capacity - Int(stream.avail_out) : 0
    }
    return isWhole ? packed : nil
  }
}
