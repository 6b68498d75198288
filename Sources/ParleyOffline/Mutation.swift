package import ParleyJSON
package import ParleyModel

/// The kind of a change to a resource on a server.
public enum MutationKind: Sendable, Hashable {
  /// Creates a resource.
  case create
  /// Changes fields of a resource.
  case update
  /// Deletes a resource.
  case delete
  /// Performs a named action on a resource, such as `comments`. Actions are never merged.
  case action(String)
}

/// A change that an app wants to make.
public struct MutationDraft: Sendable, Hashable {
  /// The kind of change.
  public var kind: MutationKind
  /// The collection, such as `contacts`.
  public var resource: String
  /// The resource's id; a temporary id for `create`.
  public var id: ResourceID
  /// JSON: an object of fields for `create` and `update`, any value for an action.
  public var body: [UInt8]
  /// The version of the resource that the change is based on; with `nil` the server cannot detect
  /// conflicts.
  public var base: String?
  /// The lane. Changes of one lane are sent in order; lanes are sent in parallel.
  public var lane: String

  /// Creates a draft, by default with an empty object as the body.
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

/// A change in the outbox.
public struct Mutation: Sendable, Hashable {
  /// The state of a change in the outbox.
  public enum State: Sendable, Hashable {
    /// The change is sent after the changes before it.
    case waiting
    /// The server has another version; contains its JSON and version if the server reported them.
    case conflict(theirs: [UInt8]?, version: String?)
    /// The server refused the change.
    case refused(MutationRefusal)
  }

  /// The position in the order of all changes.
  public internal(set) var number: Int64
  /// The idempotency key, created when the change was added. The bytes sent under it never change.
  public internal(set) var key: String
  /// The user who made the change; it is never sent with another user's token.
  public var user: String { owner.text }
  package let owner: ExactName
  /// The change.
  public internal(set) var draft: MutationDraft
  /// Whether the change may have reached the server.
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

  /// Whether the change is a conflict or a refusal, which the user has to decide on.
  public var isProblem: Bool { state != .waiting }

  /// The temporary ids that the change refers to, without the id of a resource that it creates.
  package var references: Set<String> {
    var names = JSONValue(draft.body).map { References.names(in: $0) } ?? []
    if let name = draft.id.temporaryName {
      if draft.kind == .create { names.remove(name) } else { names.insert(name) }
    }
    return names
  }

  /// The bytes that count towards the outbox's limit.
  package var byteCount: Int { draft.body.count + 256 }
}

/// The reason why a server refuses a change.
public enum MutationRefusal: Error, Sendable, Hashable {
  /// The server answered with this status, and a reason as text.
  case status(Int, reason: String?)
  /// The change refers to a temporary id whose resource was never created.
  case missingReference
  /// The change refers to a resource that the server created without reporting its id.
  case unknownID
}

extension MutationRefusal: CustomStringConvertible {
  /// The reason, and what to do.
  public var description: String {
    switch self {
    case .status(let status, let reason):
      "the server refuses the change with status \(status)" + (reason.map { ": \($0)" } ?? "")
    case .missingReference:
      "the change refers to a resource that was never created; discard it, or send another one"
    case .unknownID:
      "the server has not reported the id of a resource that it created; fetch the list again"
    }
  }
}

/// A change in the form that is sent.
public struct MutationRequest: Sendable, Hashable {
  /// The idempotency key: the server applies the change once under it.
  public let key: String
  /// The user on whose behalf the change is sent; only this user's token is used.
  public let user: String
  /// The kind of change.
  public let kind: MutationKind
  /// The collection.
  public let resource: String
  /// The resource's id on the server; `nil` for a resource that is to be created.
  public let id: ResourceID?
  /// JSON in which temporary ids are replaced by the server's ids.
  public let body: [UInt8]
  /// The version that the change is based on.
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

/// The result of sending a change.
public enum MutationAnswer: Sendable, Hashable {
  /// The server made the change. `id` is the resource's id, `body` the resource after the change,
  /// `version` its version; each may be unknown.
  case done(id: ResourceID? = nil, body: [UInt8]? = nil, version: String? = nil)
  /// The resource was changed since the base version (409, 412).
  case conflict(theirs: [UInt8]? = nil, version: String? = nil)
  /// The server refused the change (any other 4xx).
  case refused(status: Int, reason: String? = nil)
  /// The token was rejected (401).
  case unauthorised
  /// There is no token for the change's user.
  case noToken
  /// The server is busy (429, 5xx); retry after this many milliseconds, if the server reports them.
  case busy(retryAfter: Int64? = nil)
  /// Nothing was sent, because there was no connection. The change can still be merged with later
  /// ones.
  case notSent
  /// No response arrived: the server may or may not have made the change.
  case unreachable
}

/// A decision on a conflict or a refusal.
public enum MutationDecision: Sendable, Hashable {
  /// Send the change unchanged, under a new key; after a conflict, on the version that the server
  /// reported.
  case retry
  /// Send this body instead, based on this version.
  case send(body: [UInt8], base: String?)
  /// Discard the change. Discarding a create discards all changes of the resource; changes of other
  /// resources that refer to it are refused.
  case discard
}

extension MutationDecision {
  /// Send a model's fields instead, based on the model's version. Usually the model is the result
  /// of ``Mutation/theirs(as:)``, changed.
  public static func send(_ model: some OfflineModel) -> MutationDecision {
    .send(body: ModelForm.sent(model).utf8, base: model.version)
  }
}

extension Mutation {
  /// Returns the server's resource of a conflict; `nil` if the server did not report it, or the
  /// model cannot decode it.
  public func theirs<Model: OfflineModel>(as: Model.Type = Model.self) -> Model? {
    reported.flatMap { try? ModelForm.model($0) }
  }

  /// The server's resource, with its id, if this is a conflict about a resource that the server
  /// has.
  package var reported: JSONValue? {
    guard case .conflict(let theirs?, _) = state, draft.kind != .create, !draft.id.isTemporary,
      let json = JSONValue(theirs), json.fields != nil
    else { return nil }
    return Merging.merge(json, with: JSONValue(JSONFields([.init("id", draft.id.json)])))
  }
}
