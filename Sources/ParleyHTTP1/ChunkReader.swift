/// A reader of a chunked body (RFC 9112, section 7.1), in pieces of any size.
///
/// Extensions and trailers are checked and ignored.
struct ChunkReader {
  private enum State {
    /// At the first digit of a size.
    case size
    /// After a digit.
    case digits
    /// In space before an extension's semicolon.
    case space
    case chunkExtension
    /// After the CR of a chunk's first line.
    case sizeEnd
    case data
    /// At the CR after the data, and at its LF.
    case dataEnd
    case dataLineFeed
    /// At the beginning of a trailer, or of the empty line.
    case trailer
    case trailerName
    case trailerValue
    case trailerEnd
    /// At the LF of the empty line.
    case lastLineFeed
    case done
  }

  /// The result of a read.
  enum Outcome {
    /// More bytes are to come.
    case partial
    /// The body has ended.
    case done
    /// The next chunk would exceed the limit. None of it was read: a read with a larger limit
    /// continues with it.
    case over
  }

  private var state = State.size
  private var size: UInt64 = 0
  private var left = 0
  private var digitCount = 0
  /// Bytes of all extensions so far.
  private var extensionBytes = 0
  private var trailerBytes = 0
  private var trailerCount = 0

  init() {}

  /// Appends data to `body`, and returns the number of consumed bytes, up to the body's end.
  ///
  /// - Parameter bytesMax: Maximum bytes of the body, checked before a chunk is stored.
  mutating func read(
    _ bytes: Span<UInt8>, into body: inout [UInt8], bytesMax: Int, _ limits: HTTPLimits
  ) throws(HTTPError) -> (consumed: Int, outcome: Outcome) {
    var index = 0
    while index < bytes.count {
      if state == .data {
        let count = min(left, bytes.count - index)
        bytes.extracting(index..<(index + count)).withUnsafeBufferPointer {
          body.append(contentsOf: $0)
        }
        index += count
        left -= count
        if left == 0 { state = .dataEnd }
        continue
      }
      guard try step(bytes[index], bytesMax - body.count, limits) else { return (index, .over) }
      index += 1
      if state == .done { return (index, .done) }
    }
    return (index, .partial)
  }

  /// Consumes a byte that is not data. Returns `false` without consuming it at the end of a size
  /// that exceeds `room`.
  private mutating func step(
    _ byte: UInt8, _ room: Int, _ limits: HTTPLimits
  ) throws(HTTPError) -> Bool {
    switch state {
    case .size, .digits:
      if let digit = Bytes.hex(byte) {
        // More than 16 digits are malformed, even if they are zeros.
        digitCount += 1
        guard digitCount <= 16 else { throw .chunk }
        size = size << 4 | UInt64(digit)
        state = .digits
        return true
      }
      guard state == .digits else { throw .chunk }
      switch byte {
      case Bytes.carriageReturn: return endSize(room)
      case 0x3b: state = .chunkExtension
      case Bytes.space, Bytes.tab: state = .space
      default: throw .chunk
      }
    case .space:
      try countExtension(limits)
      switch byte {
      case 0x3b: state = .chunkExtension
      case Bytes.space, Bytes.tab: break
      default: throw .chunk
      }
    case .chunkExtension:
      if byte == Bytes.carriageReturn { return endSize(room) }
      guard byte == Bytes.tab || byte >= 0x20 && byte != 0x7f else { throw .chunk }
      try countExtension(limits)
    case .sizeEnd:
      guard byte == Bytes.lineFeed else { throw .chunk }
      state = left == 0 ? .trailer : .data
    case .dataEnd:
      guard byte == Bytes.carriageReturn else { throw .chunk }
      state = .dataLineFeed
    case .dataLineFeed:
      guard byte == Bytes.lineFeed else { throw .chunk }
      size = 0
      digitCount = 0
      state = .size
    case .trailer, .trailerName, .trailerValue, .trailerEnd, .lastLineFeed:
      trailerBytes += 1
      guard trailerBytes <= limits.headBytesMax else { throw .headTooLong(limits.headBytesMax) }
      try stepTrailer(byte, limits)
    case .data, .done:
      preconditionFailure("no byte is expected")
    }
    return true
  }

  private mutating func countExtension(_ limits: HTTPLimits) throws(HTTPError) {
    extensionBytes += 1
    guard extensionBytes <= limits.chunkExtensionBytesMax else {
      throw .chunkExtension(limits.chunkExtensionBytesMax)
    }
  }

  /// Starts a chunk if there is room for it.
  private mutating func endSize(_ room: Int) -> Bool {
    guard size <= UInt64(max(0, room)) else { return false }
    left = Int(size)
    state = .sizeEnd
    return true
  }

  private mutating func stepTrailer(_ byte: UInt8, _ limits: HTTPLimits) throws(HTTPError) {
    switch state {
    case .trailer:
      if byte == Bytes.carriageReturn {
        state = .lastLineFeed
        return
      }
      trailerCount += 1
      guard trailerCount <= limits.fieldsMax else { throw .tooManyFields(limits.fieldsMax) }
      guard Bytes.token.contains(byte) else { throw .trailer }
      state = .trailerName
    case .trailerName:
      if byte == 0x3a {
        state = .trailerValue
      } else if !Bytes.token.contains(byte) {
        throw .trailer
      }
    case .trailerValue:
      if byte == Bytes.carriageReturn {
        state = .trailerEnd
      } else if byte < 0x20 && byte != Bytes.tab || byte == 0x7f {
        throw .trailer
      }
    case .trailerEnd:
      guard byte == Bytes.lineFeed else { throw .trailer }
      state = .trailer
    default:
      guard byte == Bytes.lineFeed else { throw .trailer }
      state = .done
    }
  }
}
