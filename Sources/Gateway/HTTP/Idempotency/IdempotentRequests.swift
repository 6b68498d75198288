import ParleyGatewayPorts

/// Requests with an `Idempotency-Key` that are in progress, by their keys.
///
/// - Parameter Match: A path's resource with the names in it.
struct IdempotentRequests<Match> {
  /// A request that is in progress.
  struct Work {
    /// The request in the form that the store compares.
    let keyed: KeyedRequest
    /// The request's head, with which it is performed.
    let head: RequestHead
    /// The caller's identity: checked once, so that the request counts once towards the user's
    /// limits.
    let identity: Identity
    /// The resource that the path matches, with the names in it.
    let match: Match
    /// Repeated requests that wait for the response. Maximum ``waitingMax``.
    var waiting: [RequestID] = []
    /// The time at which the response is stored.
    var keeping = Keeping.afterwards
    /// The stamp of the token that the request creates, if any.
    var stamp: TokenStamp?
  }

  /// The time at which the response to a request is stored.
  enum Keeping {
    /// Alone, before it is sent: the request changed nothing in the store.
    case afterwards
    /// In the commit of the request's change.
    case withWork
    /// Never: the store contains the response already, or the request may be retried.
    case not
  }

  /// Maximum repeated requests that wait for one response.
  static var waitingMax: Int { 4 }

  private var works: [RequestID: Work] = [:]
  private var byName: ExactDictionary<RequestID> = [:]

  var isEmpty: Bool { works.isEmpty }

  /// The work of a request; `nil` if it has no key, or has been answered.
  subscript(request: RequestID) -> Work? { works[request] }

  /// Returns the request in progress with the same owner and key.
  func first(of keyed: KeyedRequest) -> RequestID? { byName[Self.name(keyed)] }

  mutating func begin(_ request: RequestID, _ work: Work) {
    works[request] = work
    byName[Self.name(work.keyed)] = request
  }

  /// Queues a repeated request behind the first.
  ///
  /// - Returns: Whether it was queued; false if ``waitingMax`` is reached.
  mutating func wait(_ request: RequestID, for first: RequestID) -> Bool {
    guard let count = works[first]?.waiting.count, count < Self.waitingMax else { return false }
    works[first]?.waiting.append(request)
    return true
  }

  /// Stores the response in the commit of the request's change from now on.
  mutating func storeWithChange(_ request: RequestID) { works[request]?.keeping = .withWork }

  /// Prevents the response from being stored.
  mutating func discardResponse(of request: RequestID) { works[request]?.keeping = .not }

  /// Records the stamp of the token that a request creates.
  mutating func stamp(_ request: RequestID, _ stamp: TokenStamp) { works[request]?.stamp = stamp }

  /// Removes a request and returns its work.
  mutating func finish(_ request: RequestID) -> Work? {
    guard let work = works.removeValue(forKey: request) else { return nil }
    byName.removeValue(forKey: Self.name(work.keyed))
    return work
  }

  /// Returns a text that is unique to an owner and a key.
  private static func name(_ keyed: KeyedRequest) -> String {
    "\(keyed.owner.utf8.count) \(keyed.owner) \(keyed.key)"
  }
}
