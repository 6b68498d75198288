import SocketMessages

/// A call of ``ClientMachine/handle(_:now:)``: the state that is constant in it, and its actions.
struct Turn {
  let now: Int64
  var actions: [ClientAction] = []
  private(set) var messageCount: Int
  /// Whether messages can be sent.
  private(set) var isOnline = false
  /// The client's id on the server.
  private(set) var clientID: String?
  /// The server's limits.
  private(set) var limits = Limits()
  /// Whether the server knows formatting.
  private(set) var hasFormats = true

  init(now: Int64, messageCount: Int) {
    self.now = now
    self.messageCount = messageCount
  }

  /// Copies the state of the connection, at the beginning and after it has changed.
  mutating func enter(_ line: borrowing Line) {
    isOnline = line.isOnline
    clientID = line.claim?.id
    limits = line.limits
    hasFormats = line.hasFormats
  }

  /// Sends a message.
  ///
  /// - Returns: The message's number, which the reply contains.
  @discardableResult
  mutating func send(_ message: ClientMessage) -> Int {
    let (number, bytes) = encode(message)
    actions.append(.send(bytes))
    return number
  }

  /// Encodes a message, for callers that must check its size before they send it.
  mutating func encode(_ message: ClientMessage) -> (number: Int, bytes: [UInt8]) {
    messageCount &+= 1
    var bytes: [UInt8] = []
    // Enough for most messages; otherwise each is copied while it grows.
    bytes.reserveCapacity(224)
    message.encode(messageID: MessageNumber.write(messageCount), into: &bytes)
    return (messageCount, bytes)
  }

  /// Returns the time after a delay, in milliseconds.
  func after(_ milliseconds: Int64) -> Int64 {
    let (time, overflow) = now.addingReportingOverflow(milliseconds)
    return overflow ? .max : time
  }

  /// Returns the time after the delay that the server requests, at most an hour, or after the usual
  /// one.
  func after(_ asked: Int?, or usual: Int64) -> Int64 {
    guard let asked else { return after(usual) }
    return after(min(max(Int64(asked), 0), 3_600_000))
  }
}

/// The ids of this client's messages: a letter, and an ascending number.
enum MessageNumber {
  static func write(_ number: Int) -> String { "c" + String(number) }

  /// Returns the number in an id of this client's messages; `nil` for any other id.
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
  /// Whether both have the same bytes. (`==` treats é and e with a combining accent as equal, and
  /// links Unicode tables.)
  func isSame(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension Array {
  /// Returns the index of the element with an id, in an array sorted by the bytes of the ids; if it
  /// is missing, the index at which to insert it.
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

/// SplitMix64: random numbers that a seed reproduces.
struct SeededRandom: Sendable {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state = state &+ 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  /// Returns a random time within a range of at most an hour.
  mutating func draw(from range: ClosedRange<Int64>) -> Int64 {
    range.lowerBound &+ Int64(next() % UInt64(range.upperBound &- range.lowerBound &+ 1))
  }
}
