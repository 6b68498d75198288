// Any bytes are frames or a failure, within the limits, and the same ones however reads cut them.
// Text is valid UTF-8 as the standard library defines it.

import ParleyWebSocketFrames

/// Called by libFuzzer for each input. Its first two bytes choose sides, limits and cuts.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard count >= 2 else { return 0 }
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  let stream = bytes[2...]
  let whole = Log.reading(stream, choices: bytes[0], cutting: 0)
  guard Log.reading(stream, choices: bytes[0], cutting: 1) == whole,
    Log.reading(stream, choices: bytes[0], cutting: UInt32(bytes[1]) | 0x100) == whole
  else { fatalError("another cut gives other events") }
  return 0
}

/// The events read from a stream, as comparable bytes.
private struct Log: Equatable {
  var bytes: [UInt8] = []

  static func reading(_ stream: ArraySlice<UInt8>, choices: UInt8, cutting seed: UInt32) -> Log {
    let messageBytesMax = choices & 2 == 0 ? 1_000_000 : 100
    var reader = FrameReader(
      side: choices & 1 == 0 ? .server : .client,
      limits: FrameLimits(messageBytesMax: messageBytesMax, fragmentsMax: 10, tinyFragmentsMax: 5),
      acceptsCompressed: choices & 4 != 0)
    var log = Log()
    var place = stream.startIndex
    var random = seed
    var fed = 0
    while place < stream.endIndex {
      random = random &* 1_664_525 &+ 1_013_904_223
      let wanted = seed == 0 ? Int.max : seed == 1 ? 1 : Int(random >> 24) % 40 + 1
      let end = stream.index(place, offsetBy: min(wanted, stream.endIndex - place))
      // A separate allocation, so that the address sanitizer detects reads beyond it.
      let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: end - place, alignment: 1)
      memory.copyBytes(from: stream[place..<end])
      var input = memory
      while let event = reader.next(&input) {
        guard !log.hasEnded else { fatalError("something came after the end") }
        log.note(event, messageBytesMax)
      }
      guard input.isEmpty else { fatalError("input is left") }
      memory.deallocate()
      fed += end - place
      place = end
      guard reader.heldBytes <= min(2 * fed + 5_000, messageBytesMax + 125 + 4_096) else {
        fatalError("\(reader.heldBytes) bytes are held of \(fed)")
      }
    }
    return log
  }

  var hasEnded = false

  private mutating func note(_ event: FrameReader.Event, _ messageBytesMax: Int) {
    switch event {
    case .message(let kind, let view):
      if kind == .text, String(validating: view, as: UTF8.self) == nil {
        fatalError("a text is not UTF-8")
      }
      guard view.count <= messageBytesMax else { fatalError("a message is over the limit") }
      add(kind.rawValue, view)
    case .compressed(let kind, let view): add(4 | kind.rawValue, view)
    case .oversized(let count): bytes += Array("oversized \(count)".utf8)
    case .ping(let view): add(9, view)
    case .pong(let view): add(10, view)
    case .close(let status, let reason):
      hasEnded = true
      guard status?.isValidOnWire ?? true, String(validating: reason, as: UTF8.self) != nil else {
        fatalError("a close frame is not valid")
      }
      bytes += Array("close \(status?.rawValue ?? 0)".utf8)
      add(8, reason)
      _ = Frame.close(status, reason: String(decoding: reason, as: UTF8.self))
    case .failure(let error):
      hasEnded = true
      bytes += Array("\(error.reason) \(error.status.rawValue)".utf8)
      _ = Frame.close(error.status, reason: error.reason)
    }
  }

  private mutating func add(_ kind: UInt8, _ view: UnsafeRawBufferPointer) {
    bytes.append(kind)
    bytes += Array("\(view.count) ".utf8)
    bytes += view
  }
}
