/// The requests delivered to the owner, in order, and their responses.
struct AnswerQueue {
  typealias Number = HTTPServerConnection.RequestNumber

  /// A delivered request and its response.
  struct Slot {
    let number: Number
    let isHead: Bool
    let isIndependent: Bool
    let keepsAlive: Bool
    /// Header fields that are added to the response.
    let added: [HTTPServerConnection.Field]
    var response: HTTPResponse?
  }

  private var slots: [Slot] = []
  private var abandoned: [Number] = []
  private var serial: UInt64 = 0

  init() {}

  var isEmpty: Bool { slots.isEmpty }

  /// The number of the first request.
  var first: Number? { slots.first?.number }

  /// Whether the owner may receive another independent request.
  func mayGrow(to most: Int) -> Bool {
    slots.count < most && slots.first?.isIndependent != false
  }

  /// Adds a request that is delivered to the owner.
  mutating func open(
    _ request: HTTPRequestHead, _ added: [HTTPServerConnection.Field]
  ) -> Number {
    append(
      isHead: request.method == .head, isIndependent: request.isIndependent,
      keepsAlive: request.keepsAlive, added)
  }

  /// Adds a last response by the connection itself.
  mutating func close(
    with response: HTTPResponse, to request: HTTPRequestHead?,
    _ added: [HTTPServerConnection.Field]
  ) {
    _ = append(
      isHead: request?.method == .head, isIndependent: false, keepsAlive: false, added, response)
  }

  private mutating func append(
    isHead: Bool, isIndependent: Bool, keepsAlive: Bool, _ added: [HTTPServerConnection.Field],
    _ response: HTTPResponse? = nil
  ) -> Number {
    serial += 1
    let number = Number(rawValue: serial)
    slots.append(
      Slot(
        number: number, isHead: isHead, isIndependent: isIndependent, keepsAlive: keepsAlive,
        added: added, response: response))
    return number
  }

  /// Sets the response of a request. Returns whether the request was waiting for one.
  mutating func answer(_ number: Number, with response: HTTPResponse) -> Bool {
    guard let index = slots.firstIndex(where: { $0.number == number && $0.response == nil }) else {
      return false
    }
    slots[index].response = response
    return true
  }

  /// Removes and returns the first request, if it has its response.
  mutating func takeReady() -> (Slot, HTTPResponse)? {
    guard let slot = slots.first, let response = slot.response else { return nil }
    slots.removeFirst()
    return (slot, response)
  }

  /// Removes all requests; those without a response are abandoned.
  mutating func abandonAll() {
    for slot in slots where slot.response == nil { abandoned.append(slot.number) }
    slots = []
  }

  /// Removes all requests, because the owner has answered in another way.
  mutating func removeAll() { slots = [] }

  mutating func takeAbandoned() -> Number? {
    abandoned.isEmpty ? nil : abandoned.removeFirst()
  }
}
