import SocketMessages

/// A call of ``ClientMachine/handle(_:now:)``: what holds while it lasts, and what it gathers.
struct Turn {
  let now: Int64
  var actions: [ClientAction] = []
  private(set) var messageCount: Int
  /// Whether messages can be sent.
  private(set) var isOnline = false
  /// The client's identity to the server.
  private(set) var clientID: String?
  /// The server's limits.
  private(set) var limits = Limits()

  init(now: Int64, messageCount: Int) {
    self.now = now
    self.messageCount = messageCount
  }

  /// The turn begins, or the line has become another in this very turn.
  mutating func enter(_ line: borrowing Line) {
    isOnline = line.isOnline
    clientID = line.claim?.id
    limits = line.limits
  }

  /// Sends a message.
  ///
  /// - Returns: its number, by which a reply is known.
  @discardableResult
  mutating func send(_ message: ClientMessage) -> Int {
    let (number, bytes) = encode(message)
    actions.append(.send(bytes))
    return number
  }

  /// A message's bytes, for ``send(_:)-swift.method`` if they are not too many.
  mutating func encode(_ message: ClientMessage) -> (number: Int, bytes: [UInt8]) {
    messageCount &+= 1
    var bytes: [UInt8] = []
    // Most messages fit: without it, each is copied while it grows.
    bytes.reserveCapacity(224)
    message.encode(messageID: MessageNumber.write(messageCount), into: &bytes)
    return (messageCount, bytes)
  }

  /// A time from now on.
  func after(_ milliseconds: Int64) -> Int64 {
    let (time, overflow) = now.addingReportingOverflow(milliseconds)
    return overflow ? .max : time
  }

  /// The time that the server asks to wait, within an hour.
  func after(_ asked: Int?, or usual: Int64) -> Int64 {
    guard let asked else { return after(usual) }
    return after(min(max(Int64(asked), 0), 3_600_000))
  }
}

/// The names of this client's messages: a letter, and a number that only rises.
enum MessageNumber {
  static func write(_ number: Int) -> String { "c" + String(number) }

  /// The number in a name of this client's making; `nil` for any other.
  static func read(_ name: String) -> Int? {
    var number = 0
    var digits = 0
    for byte in Array(name.utf8) {
      if digits == 0 {
        guard byte == UInt8(ascii: "c") else { return nil }
        digits = 1
        continue
      }
      guard byte >= 0x30, byte <= 0x39, digits < 10 else { return nil }
      number = number &* 10 &+ Int(byte &- 0x30)
      digits += 1
    }
    return digits > 1 ? number : nil
  }
}

extension String {
  /// Whether both are the same bytes. (`==` takes é and e with an accent for one, and brings
  /// Unicode's tables along.)
  func isSame(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension Array {
  /// The index of the element with an id, among elements in the order of their ids' bytes; the index
  /// to insert it at if it is not there.
  ///
  /// - Complexity: O(log *n*) comparisons.
  func slot(of id: String, by elementID: (Element) -> String) -> (index: Int, isThere: Bool) {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if elementID(self[middle]).utf8.lexicographicallyPrecedes(id.utf8) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return (low, low < count && elementID(self[low]).isSame(as: id))
  }
}

/// SplitMix64: chance that a seed repeats.
struct SeededChance: Sendable {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state = state &+ 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  /// A time within a range, which is no longer than an hour.
  mutating func draw(from range: ClosedRange<Int64>) -> Int64 {
    range.lowerBound &+ Int64(next() % UInt64(range.upperBound &- range.lowerBound &+ 1))
  }
}
