package import ParleyGatewayPorts

/// The binary form of a text's author runs in a snapshot: the names, then for each run its length
/// and the index of its author's name. Numbers are varints: seven bits per byte, lowest first.
package enum AuthorRunsCoding {
  package static func encode(_ authorship: Authorship) -> [UInt8] {
    let (names, runs) = authorship.numberedRuns
    var bytes: [UInt8] = []
    append(names.count, to: &bytes)
    for name in names {
      append(name.utf8.count, to: &bytes)
      bytes.append(contentsOf: name.utf8)
    }
    for run in runs {
      append(run.count, to: &bytes)
      append(run.author, to: &bytes)
    }
    return bytes
  }

  /// Decodes author runs; `nil` if the bytes are malformed.
  package static func decode(_ bytes: [UInt8]) -> Authorship? {
    var rest = bytes[...]
    guard let nameCount = number(&rest), nameCount <= bytes.count else { return nil }
    var names: [String] = []
    for _ in 0..<nameCount {
      guard let length = number(&rest), length <= rest.count else { return nil }
      names.append(String(decoding: rest.prefix(length), as: UTF8.self))
      rest.removeFirst(length)
    }
    var runs: [(author: Int, count: Int)] = []
    while !rest.isEmpty {
      guard let count = number(&rest), let name = number(&rest), name < names.count else {
        return nil
      }
      runs.append((author: name, count: count))
    }
    return Authorship(names: names, runs: runs)
  }

  private static func append(_ number: Int, to bytes: inout [UInt8]) {
    var rest = UInt64(number)
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  private static func number(_ bytes: inout ArraySlice<UInt8>) -> Int? {
    var number = 0
    for shift in stride(from: 0, to: 56, by: 7) {
      guard let byte = bytes.popFirst() else { return nil }
      number |= Int(byte & 0x7f) << shift
      if byte < 0x80 { return number }
    }
    return nil
  }
}
