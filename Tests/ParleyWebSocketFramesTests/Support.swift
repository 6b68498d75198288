import ParleyOTWorkloads
import ParleyWebSocketFrames

/// An event of a reader, its bytes copied.
enum Seen: Hashable, CustomStringConvertible {
  case text([UInt8])
  case binary([UInt8])
  case compressed(MessageKind, [UInt8])
  case oversized(UInt64)
  case ping([UInt8])
  case pong([UInt8])
  case close(UInt16?, [UInt8])
  case failure(FrameError)

  init(_ event: borrowing FrameReader.Event) {
    switch copy event {
    case .message(.text, let bytes): self = .text(Array(bytes))
    case .message(.binary, let bytes): self = .binary(Array(bytes))
    case .compressed(let kind, let bytes): self = .compressed(kind, Array(bytes))
    case .oversized(let count): self = .oversized(count)
    case .ping(let bytes): self = .ping(Array(bytes))
    case .pong(let bytes): self = .pong(Array(bytes))
    case .close(let status, let reason): self = .close(status?.rawValue, Array(reason))
    case .failure(let error): self = .failure(error)
    }
  }

  static func text(_ string: String) -> Self { .text(Array(string.utf8)) }

  var description: String {
    func short(_ bytes: [UInt8]) -> String {
      bytes.count > 12 ? "\(bytes[..<12])… \(bytes.count)" : "\(bytes)"
    }
    switch self {
    case .text(let bytes): return "text \(short(bytes))"
    case .binary(let bytes): return "binary \(short(bytes))"
    case .compressed(let kind, let bytes): return "compressed \(kind) \(short(bytes))"
    case .oversized(let count): return "oversized \(count)"
    case .ping(let bytes): return "ping \(short(bytes))"
    case .pong(let bytes): return "pong \(short(bytes))"
    case .close(let status, let reason): return "close \(status ?? 0) \(short(reason))"
    case .failure(let error): return "failure \(error)"
    }
  }
}

/// A reader that records its results.
struct Reading: ~Copyable {
  var reader: FrameReader
  var seen: [Seen] = []
  /// The most memory that was held after any piece, and the bytes fed until then.
  var heldBytesMax = 0

  init(
    _ side: FrameReader.Side = .server, limits: FrameLimits = FrameLimits(),
    acceptsCompressed: Bool = false
  ) {
    reader = FrameReader(side: side, limits: limits, acceptsCompressed: acceptsCompressed)
  }

  /// Feeds one piece, in memory of its own that ends where the piece does.
  mutating func feed(_ piece: ArraySlice<UInt8>) {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: piece.count, alignment: 1)
    defer { memory.deallocate() }
    memory.copyBytes(from: piece)
    var input = memory
    while let event = reader.next(&input) { seen.append(Seen(event)) }
    precondition(input.isEmpty, "the reader left input behind")
    heldBytesMax = max(heldBytesMax, reader.heldBytes)
  }

  /// Feeds bytes cut at the places given.
  static func of(
    _ bytes: [UInt8], cuts: [Int] = [], _ side: FrameReader.Side = .server,
    limits: FrameLimits = FrameLimits(), acceptsCompressed: Bool = false
  ) -> [Seen] {
    var reading = Reading(side, limits: limits, acceptsCompressed: acceptsCompressed)
    var start = 0
    for cut in cuts + [bytes.count] where cut > start || cuts.isEmpty {
      reading.feed(bytes[start..<cut])
      start = cut
    }
    return reading.seen
  }
}

/// A frame written by hand, as wrong as it is wished.
struct RawFrame {
  var first: UInt8
  var payload: [UInt8]
  var key: [UInt8]? = [0x37, 0xfa, 0x21, 0x3d]
  /// The length said, if it is not the payload's.
  var declared: UInt64?
  /// 0, 2 or 8 bytes of length, if not as few as can be.
  var lengthBytes: Int?

  init(_ opcode: UInt8, _ payload: [UInt8] = [], final: Bool = true, reserved: UInt8 = 0) {
    first = (final ? 0x80 : 0) | reserved << 4 | opcode
    self.payload = payload
  }

  init(_ opcode: UInt8, _ text: String, final: Bool = true, reserved: UInt8 = 0) {
    self.init(opcode, Array(text.utf8), final: final, reserved: reserved)
  }

  var bytes: [UInt8] {
    let length = declared ?? UInt64(payload.count)
    let lengthBytes = lengthBytes ?? (length < 126 ? 0 : length < 65_536 ? 2 : 8)
    var bytes = [first]
    let masked: UInt8 = key == nil ? 0 : 0x80
    switch lengthBytes {
    case 0: bytes.append(masked | UInt8(length))
    case 2:
      bytes.append(masked | 126)
      bytes += [UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length)]
    default:
      bytes.append(masked | 127)
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: length >> UInt64(shift)))
      }
    }
    guard let key else { return bytes + payload }
    bytes += key
    for (index, byte) in payload.enumerated() { bytes.append(byte ^ key[index & 3]) }
    return bytes
  }
}

/// Ways to cut a stream: not at all, after each byte, and at a few random places.
func cuts(_ count: Int, _ generator: inout SplitMix64) -> [[Int]] {
  var ways = [[], Array(0...count)]
  for _ in 0..<3 {
    var cuts: [Int] = []
    var place = 0
    while place < count {
      place += generator.chance(50) ? generator.below(8) : generator.below(300)
      cuts.append(min(place, count))
    }
    ways.append(cuts)
  }
  return ways
}

enum Seeds {
  static let smoke = Array(UInt64(1)...40)
}
