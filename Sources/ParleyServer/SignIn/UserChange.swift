import ParleyGatewayPorts
import ParleyJSON

/// A difference between two states of the file of users, for the audit log.
struct UserChange: Sendable, Equatable {
  let action: AuditAction
  /// The name of the user or the group.
  let target: String
  /// The rights that changed. Never contains a password.
  var detail = ""
  /// The notes, named one by one, that the user may read since the change, and could not before.
  var shared: [DocumentID] = []

  /// Maximum changes of one reading that are listed one by one.
  static let countMax = 1_000

  /// Returns the changes from one state of the file to the next, in the order of names.
  static func changes(
    from old: (users: [AccountName: UserLine], groups: [GroupLine]),
    to new: (users: [AccountName: UserLine], groups: [GroupLine])
  ) -> [UserChange] {
    var changes: [UserChange] = []
    for (name, line) in new.users {
      guard let former = old.users[name] else {
        changes.append(
          .init(
            action: .addUser, target: line.user.id, detail: words(line.rights),
            shared: notes(sharedBy: line, since: nil)))
        continue
      }
      changes += Self.changes(from: former, to: line)
    }
    for (name, line) in old.users where new.users[name] == nil {
      changes.append(.init(action: .removeUser, target: line.user.id))
    }
    for group in new.groups {
      let former = old.groups.first { $0.isNamed(group.name) }
      guard former != group else { continue }
      changes.append(
        .init(
          action: former == nil ? .addGroup : .changeGroup, target: group.name,
          detail: former.map { between($0.rights, group.rights) } ?? words(group.rights)))
    }
    for group in old.groups where !new.groups.contains(where: { $0.isNamed(group.name) }) {
      changes.append(.init(action: .removeGroup, target: group.name))
    }
    return changes.sorted { ($0.target, $0.action.name) < ($1.target, $1.action.name) }
  }

  private static func changes(from old: UserLine, to new: UserLine) -> [UserChange] {
    var changes: [UserChange] = []
    if old.password != new.password || old.user.since != new.user.since {
      changes.append(.init(action: .changePassword, target: new.user.id))
    }
    var details: [String] = []
    if !old.user.name.isExactly(new.user.name) || !old.user.id.isExactly(new.user.id) {
      details.append("name")
    }
    if old.mail != new.mail { details.append("mail address") }
    if old.rights != new.rights { details.append(between(old.rights, new.rights)) }
    if !details.isEmpty {
      changes.append(
        .init(
          action: .changeUser, target: new.user.id, detail: details.joined(separator: "; "),
          shared: notes(sharedBy: new, since: old)))
    }
    return changes
  }

  /// Returns the notes whose ids are in new rights of a user, unless the user could read them before.
  private static func notes(sharedBy new: UserLine, since old: UserLine?) -> [DocumentID] {
    let former = Identity(user: new.user.id, grants: old?.user.grants ?? [])
    let rights = new.rights.filter { right in !(old?.rights ?? []).contains(right) }
    return rights.compactMap { right in
      guard let grant = try? Grant(word: right), grant.kind == .documents,
        grant.verbs.contains(.read), let name = grant.pattern.text, !name.hasSuffix("*")
      else { return nil }
      let note = DocumentID(name)
      return former.may(.read, .document(note, in: nil)) ? nil : note
    }
  }

  private static func between(_ old: [String], _ new: [String]) -> String {
    "from \(words(old)) to \(words(new))"
  }

  private static func words(_ rights: [String]) -> String {
    rights.isEmpty ? "no rights" : rights.joined(separator: " ")
  }

  /// Returns the record of the change, by the file itself unless another actor is given.
  func record(
    by actor: String = fileActor, from address: String = "", at time: Timestamp
  ) -> AuditRecord {
    AuditRecord(
      time: time, actor: actor, action: action, target: target, address: address, detail: detail)
  }

  /// The actor of changes that were made in the file, by a command or an editor.
  static let fileActor = "file:users"
}
