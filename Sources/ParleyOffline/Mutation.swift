import ParleyJSON
package import ParleyModel

/// A change of something that a server keeps.
public enum MutationKind: Sendable, Hashable {
  /// Makes a thing.
  case create
  /// Changes fields of a thing.
  case update
  /// Removes a thing.
  case delete
  /// Does something to a thing under this name, such as `comments`. Actions are never merged.
  case action(String)
}

/// A change that an app wants to make.
public struct MutationDraft: Sendable, Hashable {
  /// The kind of change.
  public var kind: MutationKind
  /// The collection, such as `contacts`.
  public var resource: String
  /// The thing; a temporary id for one that is created.
  public var id: ResourceID
  /// JSON: an object of fields for `create` and `update`, any value for an action.
  public var body: [UInt8]
  /// The version of the thing that the change was made on; with `nil` the server cannot detect
  /// conflicts.
  public var base: String?
  /// The queue: each is sent in order, and different ones side by side.
  public var lane: String

  /// Makes a draft.
  public init(
    _ kind: MutationKind, _ resource: String, _ id: ResourceID, body: [UInt8] = Array("{}".utf8),
    base: String? = nil, lane: String = ""
  ) {
    self.kind = kind
    self.resource = resource
    self.id = id
    self.body = body
    self.base = base
    self.lane = lane
  }
}

/// A change as it waits for the server.
public struct Mutation: Sendable, Hashable {
  /// A state of waiting.
  public enum State: Sendable, Hashable {
    /// Sent when its turn comes.
    case waiting
    /// The server has another version: with its JSON and its version, if it said so.
    case conflict(theirs: [UInt8]?, version: String?)
    /// The server refuses it.
    case refused(MutationRefusal)
  }

  /// The place in the order of all.
  public internal(set) var number: Int64
  /// The idempotency key, made when it was added. What was sent under it never changes.
  public internal(set) var key: String
  /// The person whose change it is; it is never sent with another person's token.
  public var user: String { owner.text }
  package let owner: ExactName
  /// The change.
  public internal(set) var draft: MutationDraft
  /// Whether it may have reached the server.
  public internal(set) var isTried: Bool
  /// The state.
  public internal(set) var state: State

  package init(
    number: Int64, key: String, user: String, draft: MutationDraft, isTried: Bool, state: State
  ) {
    self.number = number
    self.key = key
    owner = ExactName(user)
    self.draft = draft
    self.isTried = isTried
    self.state = state
  }

  /// Whether the user has to decide on it.
  public var isProblem: Bool { state != .waiting }

  /// Temporary ids that it names, other than that of a thing it creates.
  package var references: Set<String> {
    var names = JSONValue(draft.body).map { References.names(in: $0) } ?? []
    if let name = draft.id.temporaryName {
      if draft.kind == .create { names.remove(name) } else { names.insert(name) }
    }
    return names
  }

  /// The bytes that count towards the bound.
  package var byteCount: Int { draft.body.count + 256 }
}

/// Why a server does not make a change.
public enum MutationRefusal: Error, Sendable, Hashable {
  /// The server answered with this status, and a reason in its words.
  case status(Int, reason: String?)
  /// The thing that it refers to by a temporary id was never made.
  case missingReference
  /// The server has made the thing that it refers to, but has not said under which id.
  case unknownID
}

/// A change as it is sent.
public struct MutationRequest: Sendable, Hashable {
  /// The idempotency key: the server makes the change once under it.
  public let key: String
  /// The person in whose name it is sent; with no other's token.
  public let user: String
  /// The kind of change.
  public let kind: MutationKind
  /// The collection.
  public let resource: String
  /// The thing by the server's id; `nil` for one that is to be made.
  public let id: ResourceID?
  /// JSON, with the server's ids in place of temporary ones.
  public let body: [UInt8]
  /// The version that it was made on.
  public let base: String?

  package init(
    key: String, user: String, kind: MutationKind, resource: String, id: ResourceID?, body: [UInt8],
    base: String?
  ) {
    self.key = key
    self.user = user
    self.kind = kind
    self.resource = resource
    self.id = id
    self.body = body
    self.base = base
  }
}

/// The outcome of sending a change.
public enum MutationAnswer: Sendable, Hashable {
  /// It is made. `id` is the thing's id, `body` the thing as it is now, `version` its version; each
  /// may be unknown.
  case done(id: ResourceID? = nil, body: [UInt8]? = nil, version: String? = nil)
  /// The thing has changed meanwhile (409, 412).
  case conflict(theirs: [UInt8]? = nil, version: String? = nil)
  /// The server refuses it (any other 4xx).
  case refused(status: Int, reason: String? = nil)
  /// The token does not count (401).
  case unauthorised
  /// There is no token of its user.
  case noToken
  /// The server is busy (429, 5xx); try again after so many milliseconds, if it says so.
  case busy(retryAfter: Int64? = nil)
  /// No answer came: it may have been made or not.
  case unreachable
}

/// A decision on a change that the server does not make.
public enum MutationDecision: Sendable, Hashable {
  /// Send it again as it is, under a new key.
  case retry
  /// Send this in its place, on this version.
  case send(body: [UInt8], base: String?)
  /// Forget it. With a create goes all that was done to the thing; what others refer to it by stays,
  /// refused.
  case discard
}
