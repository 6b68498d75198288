package import ParleyJSON

/// The group chat messages over Bayeux that the server writes or reads.
///
/// `DialectModels` contains the clients' message types; a test compares both.
package enum GroupChatForm {
  /// The type of a push about a new message of a group.
  package static let line = "line.create"
  /// The user id of messages by the service.
  package static let systemUserID = "system"
  /// The user name of messages by the service.
  package static let systemName = "GroupMe"
  /// The default number of messages on a page of a group's history.
  package static let pageMessages = 20

  /// Returns the content of a message as it is stored, without id and time, which the publication
  /// has. So a retried message is equal byte for byte, and is recognized as a repetition.
  package static func subject(
    group: String, user: String, name: String, text: String?, sourceGUID: String,
    attachments: [JSONValue]
  ) -> JSONFields {
    var subject: JSONFields = ["group_id": JSONValue(group), "user_id": JSONValue(user)]
    if !name.utf8.isEmpty { subject.append(.init("name", JSONValue(name))) }
    if let text { subject.append(.init("text", JSONValue(text))) }
    subject.append(.init("source_guid", JSONValue(sourceGUID)))
    subject.append(.init("attachments", JSONValue(attachments)))
    subject.append(.init("system", JSONValue(false)))
    return subject
  }

  /// Returns the push about a new message.
  package static func push(_ subject: JSONFields, alert: String) -> JSONFields {
    ["type": JSONValue(line), "alert": JSONValue(alert), "subject": JSONValue(subject)]
  }

  /// Returns the push about a user who is typing.
  ///
  /// - Parameter started: The time in milliseconds since 1970; `nil` if the user has stopped.
  package static func typing(_ user: String, started: Int?) -> JSONFields {
    var push: JSONFields = ["type": JSONValue("typing"), "user_id": JSONValue(user)]
    if let started { push.append(.init("started", JSONValue(started))) }
    return push
  }

  /// Returns the English sentence by which old apps recognise a group's event; `nil` if the event
  /// is unknown or incomplete. The server never parses the sentence.
  package static func prose(of event: JSONValue) -> String? {
    guard let parts = event.values(of: "type", "data"), let type = parts[0]?.string,
      let data = parts[1]
    else { return nil }
    func user(_ name: StaticString) -> String? { nickname(data.value(of: name)) }
    switch type {
    case "membership.announce.added":
      guard let adder = user("adder_user"),
        let list = data.value(of: "added_users")?.firstElements(addedMax + 1),
        list.count <= addedMax
      else { return nil }
      let names = list.compactMap { nickname($0) }
      guard !names.isEmpty, names.count == list.count else { return nil }
      return "\(adder) added \(joined(names)) to the group."
    case "membership.notifications.removed":
      guard let remover = user("remover_user"), let removed = user("removed_user") else {
        return nil
      }
      return "\(remover) removed \(removed) from the group."
    case "membership.nickname_changed":
      guard let user = user("user"), let name = data.value(of: "name")?.string else { return nil }
      return "\(user) changed name to \(name)"
    case "group.name_change":
      guard let user = user("user"), let name = data.value(of: "name")?.string else { return nil }
      return "\(user) changed the group's name to \(name)"
    case "group.avatar_change":
      return user("user").map { "\($0) changed the group's avatar" }
    case "message.like":
      guard let user = user("user"), data.value(of: "message_id")?.string != nil else {
        return nil
      }
      return "\(user) liked your message"
    default: return nil
    }
  }

  /// Returns a person's name; `nil` if the person has no id or no name.
  private static func nickname(_ person: JSONValue?) -> String? {
    guard let fields = person?.values(of: "id", "nickname"), fields[0]?.string != nil else {
      return nil
    }
    return fields[1]?.string
  }

  /// Maximum people named in one sentence; an event with more gets no sentence.
  private static let addedMax = 1_000

  private static func joined(_ names: [String]) -> String {
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return names.dropLast().joined(separator: ", ") + " and " + last
  }
}
