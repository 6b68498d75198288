import CParleyZlib

/// Compression in the gzip format (RFC 1952).
public enum Gzip {
  /// The compression level, zlib's default.
  private static let level: Int32 = 6
  /// The maximum bytes of a member's header and trailer, and of the boundary between its blocks.
  private static let overheadMax = 1_024

  /// Compresses bytes; `nil` if memory is exhausted.
  ///
  /// - Parameter repeatingCount: The length of the prefix that is compressed with matches. The
  ///   remaining bytes are compressed with Huffman codes only: their compressed length depends on
  ///   the frequency of each byte, but not on strings that they share with each other or with the
  ///   prefix.
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
          // Ends the block, so that the remaining bytes do not refer to it.
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
