import ParleyGatewayPorts

/// Requests with an `Idempotency-Key` that are being done, by their keys.
struct OnceBook {
  /// A request that is being done.
  struct Work {
    /// The request as the store knows it.
    let keyed: KeyedRequest
    /// The request's first lines, with which it is done.
    let head: RequestHead
    /// The identity that makes it: checked once, so that a request counts once towards its user's
    /// limits.
    let identity: Identity
    /// The resource that the path matches, with the names in it.
    let match: Resource.Match
    /// The same request, sent again before it was answered. Bounded by ``waitingMax``.
    var waiting: [RequestID] = []
    /// The way in which its answer is kept.
    var keeping = Keeping.afterwards
    /// The token that it makes, if it makes one.
    var stamp: TokenStamp?
  }

  /// The way in which an answer is kept.
  enum Keeping {
    /// Alone, before it is sent: the request changes nothing in the store.
    case afterwards
    /// In the commit of the request's change.
    case withWork
    /// Kept nowhere: the store has the answer already, or the request may be made again.
    case not
  }

  /// Requests that wait for the answer to one, at most.
  static let waitingMax = 4

  private var works: [RequestID: Work] = [:]
  private var byName: ExactDictionary<RequestID> = [:]

  var isEmpty: Bool { works.isEmpty }

  /// The work of a request; `nil` for one that has no key, or was answered.
  subscript(request: RequestID) -> Work? { works[request] }

  /// The request of the same name that is being done.
  func first(of keyed: KeyedRequest) -> RequestID? { byName[Self.name(keyed)] }

  mutating func begin(_ request: RequestID, _ work: Work) {
    works[request] = work
    byName[Self.name(work.keyed)] = request
  }

  /// Queues a request behind the first.
  ///
  /// - Returns: Whether it may.
  mutating func wait(_ request: RequestID, for first: RequestID) -> Bool {
    guard let count = works[first]?.waiting.count, count < Self.waitingMax else { return false }
    works[first]?.waiting.append(request)
    return true
  }

  /// From here on the answer is kept with the request's change.
  mutating func keepWithWork(_ request: RequestID) { works[request]?.keeping = .withWork }

  /// The answer is not to be kept.
  mutating func keepNothing(of request: RequestID) { works[request]?.keeping = .not }

  /// Notes the token that a request makes.
  mutating func stamp(_ request: RequestID, _ stamp: TokenStamp) { works[request]?.stamp = stamp }

  /// A request is answered.
  mutating func finish(_ request: RequestID) -> Work? {
    guard let work = works.removeValue(forKey: request) else { return nil }
    byName.removeValue(forKey: Self.name(work.keyed))
    return work
  }

  /// A text that no two names of requests share.
  private static func name(_ keyed: KeyedRequest) -> String {
    "\(keyed.owner.utf8.count) \(keyed.owner) \(keyed.key)"
  }
}
