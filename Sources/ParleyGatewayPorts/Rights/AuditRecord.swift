/// A record of the audit log: an action that changed rights or accounts, or a sign-in.
///
/// A record never contains the content of notes, passwords, tokens or keys.
public struct AuditRecord: Sendable, Hashable {
  /// The record's number, which the store assigns in ascending order; 0 before.
  public var number: Int
  /// The time of the action.
  public var time: Timestamp
  /// The user or the API key that acted, as in tokens; a name that was given, for a refused
  /// sign-in.
  public var actor: String
  /// The kind of action.
  public var action: AuditAction
  /// The affected note, folder, user, session or token; empty for none.
  public var target: String
  /// The address of the actor; empty if unknown.
  public var address: String
  /// The result of the action.
  public var outcome: AuditOutcome
  /// Further facts, such as the granted access; may be empty.
  public var detail: String

  /// Maximum bytes of each text in a record; longer texts are cut.
  public static let textBytesMax = 512

  /// Creates a record. Texts that are too long are cut.
  public init(
    number: Int = 0, time: Timestamp, actor: String, action: AuditAction, target: String = "",
    address: String = "", outcome: AuditOutcome = .done, detail: String = ""
  ) {
    self.number = number
    self.time = time
    (self.actor, self.target) = (Self.cut(actor), Self.cut(target))
    self.action = action
    self.address = Self.cut(address)
    self.outcome = outcome
    self.detail = Self.cut(detail)
  }

  /// Returns the longest beginning of a text that has at most the maximum length.
  private static func cut(_ text: String) -> String {
    guard text.utf8.count > textBytesMax else { return text }
    var (scalars, bytes) = (String.UnicodeScalarView(), 0)
    for scalar in text.unicodeScalars {
      bytes += scalar.utf8.count
      if bytes > textBytesMax { break }
      scalars.append(scalar)
    }
    return String(scalars)
  }
}

/// A kind of action in the audit log.
///
/// A store shared with newer programs may contain further kinds.
public struct AuditAction: Sendable, Hashable {
  /// The name, such as `link.create`.
  public let name: String

  /// Creates the action with a name.
  public init(_ name: String) {
    self.name = name
  }

  /// A user signed in.
  public static let signIn = AuditAction("sign-in")
  /// A user ended sessions.
  public static let endSessions = AuditAction("session.end")
  /// A user joined with an invitation.
  public static let join = AuditAction("user.join")
  /// A user was added to the users.
  public static let addUser = AuditAction("user.add")
  /// The rights or the name of a user changed.
  public static let changeUser = AuditAction("user.change")
  /// A user was removed from the users.
  public static let removeUser = AuditAction("user.remove")
  /// A password changed.
  public static let changePassword = AuditAction("user.password")
  /// A group was added.
  public static let addGroup = AuditAction("group.add")
  /// The rights of a group changed.
  public static let changeGroup = AuditAction("group.change")
  /// A group was removed.
  public static let removeGroup = AuditAction("group.remove")
  /// An operator disconnected a user or a connection.
  public static let disconnect = AuditAction("disconnect")
  /// An operator had the rights of a user checked again.
  public static let refreshRights = AuditAction("user.refresh-rights")
  /// An operator revoked tokens.
  public static let revoke = AuditAction("revoke")
  /// An operator made a token.
  public static let makeToken = AuditAction("token.create")
  /// A link to a note was created.
  public static let makeLink = AuditAction("link.create")
  /// Links to a note were ended.
  public static let endLink = AuditAction("link.end")
  /// A note was published under a name.
  public static let publish = AuditAction("name.publish")
  /// The name of a published note was withdrawn.
  public static let withdraw = AuditAction("name.withdraw")
  /// A note moved to another folder, which changes who has rights to it.
  public static let moveNote = AuditAction("note.move")
  /// All notes of a folder moved.
  public static let moveFolder = AuditAction("folder.move")
  /// A note was deleted.
  public static let deleteNote = AuditAction("note.delete")
  /// A deleted note was restored.
  public static let restoreNote = AuditAction("note.restore")
  /// A deleted note was removed permanently.
  public static let eraseNote = AuditAction("note.erase")
}

/// The result of an action in the audit log.
public enum AuditOutcome: Int, Sendable, Hashable, CaseIterable {
  /// The action was performed.
  case done = 1
  /// The action was refused, and changed nothing.
  case refused = 2

  /// The name in JSON and in queries.
  public var word: String {
    switch self {
    case .done: "done"
    case .refused: "refused"
    }
  }
}
