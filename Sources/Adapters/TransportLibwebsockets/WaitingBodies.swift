/// Bodies of responses that have not gone to their sockets yet: one copy of each text, and a limit
/// over all.
///
/// Slow readers of a long text would otherwise cost a copy each. Bodies are compared by their bytes,
/// so it does not matter who made them.
package struct WaitingBodies: Sendable {
  /// A body that is counted until it is given back.
  package struct Ticket: Sendable {
    fileprivate var mark: Mark?
    fileprivate var byteCount: Int
  }

  /// Equal bodies have equal marks; the opposite hardly ever fails.
  fileprivate struct Mark: Hashable, Sendable {
    var byteCount: Int
    var probes: UInt64
  }

  private struct Shared: Sendable {
    var body: [UInt8]
    var uses: Int
  }

  /// Bytes that are kept now.
  package private(set) var byteCount = 0
  private let byteCountMax: Int
  private var shared: [Mark: Shared] = [:]

  /// Bodies of this length are long: they leave a quarter to the others, so that slow readers of files
  /// keep nobody's short answers waiting.
  package static let longBytesMin = 1 << 20
  /// Shorter bodies are counted, but not compared.
  package static let comparedBytesMin = 16 << 10

  /// Makes an empty collection.
  package init(byteCountMax: Int) { self.byteCountMax = byteCountMax }

  /// Takes a body in, as the copy that is there already if there is one.
  ///
  /// - Returns: `nil` over the limit. A body that is alone is always taken.
  /// - Complexity: O(1), and O(*n*) if there may be an equal one.
  package mutating func take(_ body: [UInt8]) -> (body: [UInt8], ticket: Ticket)? {
    var mark: Mark?
    if body.count >= Self.comparedBytesMin {
      let candidate = Mark(byteCount: body.count, probes: Self.probes(of: body))
      if let kept = shared[candidate] {
        if kept.body == body {
          shared[candidate]?.uses += 1
          return (kept.body, Ticket(mark: candidate, byteCount: body.count))
        }
      } else {
        mark = candidate
      }
    }
    let most =
      body.count >= Self.longBytesMin ? byteCountMax - byteCountMax / 4 : byteCountMax
    guard byteCount == 0 || body.count <= most - byteCount else { return nil }
    byteCount += body.count
    if let mark { shared[mark] = Shared(body: body, uses: 1) }
    return (body, Ticket(mark: mark, byteCount: body.count))
  }

  /// Gives a body back. Once for each ticket.
  package mutating func give(_ ticket: Ticket) {
    guard let mark = ticket.mark else {
      byteCount -= ticket.byteCount
      return
    }
    guard let uses = shared[mark]?.uses else { return }
    if uses > 1 {
      shared[mark]?.uses = uses - 1
    } else {
      shared[mark] = nil
      byteCount -= ticket.byteCount
    }
  }

  /// A hash of bytes at 64 places.
  private static func probes(of body: [UInt8]) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    let step = max(1, body.count / 64)
    for index in stride(from: step - 1, to: body.count, by: step) {
      hash = (hash ^ UInt64(body[index])) &* 0x100_0000_01b3
    }
    return hash
  }
}
