/// The width and height that a picture's header declares.
///
/// A few bytes can declare any size, for which a browser would allocate memory. So a picture is
/// measured before it is shown. The result is `nil` for bytes without a size; invalid bytes never
/// trap.
struct PictureSize: Equatable {
  let width: Int
  let height: Int

  /// The number of pixels. Both factors have at most 32 bits.
  var pixels: Int {
    let (product, overflow) = width.multipliedReportingOverflow(by: height)
    return overflow ? .max : product
  }

  /// Reads the size of a picture of the given type.
  init?(of bytes: [UInt8], type: FileKind.PictureType) {
    let reader = Reader(bytes: bytes)
    let found: (Int, Int)? =
      switch type {
      case .png: reader.png()
      case .jpeg: reader.jpeg()
      case .gif: reader.gif()
      case .webp: reader.webp()
      case .avif: reader.avif()
      }
    guard let (width, height) = found, width > 0, height > 0 else { return nil }
    (self.width, self.height) = (width, height)
  }

  private struct Reader {
    /// Maximum segments and fill bytes of a JPEG that are skipped.
    static let segmentsMax = 4_096

    let bytes: [UInt8]

    /// Reads a big-endian number of at most four bytes; `nil` beyond the end.
    func big(_ index: Int, _ count: Int) -> Int? {
      guard index >= 0, index + count <= bytes.count else { return nil }
      return bytes[index..<index + count].reduce(0) { $0 << 8 | Int($1) }
    }

    /// Reads a little-endian number of at most four bytes; `nil` beyond the end.
    func little(_ index: Int, _ count: Int) -> Int? {
      guard index >= 0, index + count <= bytes.count else { return nil }
      return bytes[index..<index + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    func both(_ width: Int?, _ height: Int?) -> (Int, Int)? {
      guard let width, let height else { return nil }
      return (width, height)
    }

    func png() -> (Int, Int)? { bytes.has("IHDR", at: 12) ? both(big(16, 4), big(20, 4)) : nil }

    func gif() -> (Int, Int)? { both(little(6, 2), little(8, 2)) }

    /// Reads the first frame's header. Each segment before it states its length.
    func jpeg() -> (Int, Int)? {
      var index = 2
      var segments = 0
      while let marker = big(index, 2), marker >> 8 == 0xff {
        // Pictures have fewer segments before the first frame; other bytes may have millions.
        segments += 1
        guard segments <= Self.segmentsMax else { return nil }
        switch marker & 0xff {
        // Fill bytes, and markers without a segment.
        case 0xff: index += 1
        case 0x01, 0xd0...0xd8: index += 2
        case 0xc4, 0xc8, 0xcc: index += 2 + (big(index + 2, 2) ?? bytes.count)
        case 0xc0...0xcf: return both(big(index + 7, 2), big(index + 5, 2))
        // The picture's data, or its end, before any frame: there is no size.
        case 0xd9, 0xda: return nil
        default:
          guard let length = big(index + 2, 2), length >= 2 else { return nil }
          index += 2 + length
        }
      }
      return nil
    }

    func webp() -> (Int, Int)? {
      if bytes.has("VP8X", at: 12) {
        return both(little(24, 3).map { $0 + 1 }, little(27, 3).map { $0 + 1 })
      }
      if bytes.has("VP8L", at: 12) {
        guard let bits = little(21, 4) else { return nil }
        return (bits & 0x3fff + 1, (bits >> 14) & 0x3fff + 1)
      }
      guard bytes.has("VP8 ", at: 12), big(23, 3) == 0x9d012a else { return nil }
      return both(little(26, 2).map { $0 & 0x3fff }, little(28, 2).map { $0 & 0x3fff })
    }

    /// Returns the largest declared size, since parts of a picture declare sizes as well.
    func avif() -> (Int, Int)? {
      var largest: (Int, Int)?
      let end = min(bytes.count, 64 << 10) - 16
      var index = 8
      while index <= end {
        defer { index += 1 }
        guard bytes[index] == UInt8(ascii: "i"), bytes.has("ispe", at: index),
          let (width, height) = both(big(index + 8, 4), big(index + 12, 4))
        else { continue }
        if max(width, height) > 1 << 24 { return (Int(Int32.max), Int(Int32.max)) }
        if let known = largest, known.0 * known.1 >= width * height { continue }
        largest = (width, height)
      }
      return largest
    }
  }
}
