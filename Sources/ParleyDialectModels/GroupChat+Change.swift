import ParleyJSON

extension GroupChat {
  /// A change in a group: a ``SystemEvent`` with typed fields.
  public enum Change: Sendable, Hashable {
    /// A user has added people.
    case memberAdded([Person], by: Person)
    /// A user has removed a member, possibly themselves.
    case memberRemoved(Person, by: Person)
    /// A user has changed their name in the group; the person has the former name.
    case memberRenamed(Person, to: String)
    /// A user has renamed the group.
    case groupRenamed(to: String, by: Person)
    /// A user has changed or removed the group's picture.
    case avatarChanged(url: String?, by: Person)
    /// A user likes a message.
    case like(messageID: String, by: Person)
  }
}

extension GroupChat.Change {
  /// Reads an event; `nil` for unknown types, and if parts are missing.
  public init?(_ event: GroupChat.SystemEvent) {
    func person(_ name: String) -> GroupChat.Person? {
      event.data[name]?.fields.flatMap { try? GroupChat.Person($0) }
    }
    let name = event.data["name"]?.string
    switch event.type {
    case .memberAdded:
      guard let adder = person("adder_user"), let added = event.data["added_users"]?.elements
      else { return nil }
      let people = added.compactMap { $0.fields.flatMap { try? GroupChat.Person($0) } }
      guard !people.isEmpty, people.count == added.count else { return nil }
      self = .memberAdded(people, by: adder)
    case .memberRemoved:
      guard let remover = person("remover_user"), let removed = person("removed_user") else {
        return nil
      }
      self = .memberRemoved(removed, by: remover)
    case .memberRenamed:
      guard let user = person("user"), let name else { return nil }
      self = .memberRenamed(user, to: name)
    case .groupRenamed:
      guard let user = person("user"), let name else { return nil }
      self = .groupRenamed(to: name, by: user)
    case .avatarChanged:
      guard let user = person("user") else { return nil }
      self = .avatarChanged(url: event.data["avatar_url"]?.string, by: user)
    case .like:
      guard let user = person("user"), let id = event.data["message_id"]?.string else { return nil }
      self = .like(messageID: id, by: user)
    default: return nil
    }
  }

  /// The event in the form of the wire.
  public var event: GroupChat.SystemEvent {
    var event = GroupChat.SystemEvent()
    func add(_ name: String, _ value: JSONValue) {
      event.data.append(JSONFields.Field(name, value))
    }
    switch self {
    case .memberAdded(let people, let adder):
      event.type = .memberAdded
      add("added_users", JSONValue(people.map { JSONValue($0.fields) }))
      add("adder_user", JSONValue(adder.fields))
    case .memberRemoved(let person, let remover):
      event.type = .memberRemoved
      add("removed_user", JSONValue(person.fields))
      add("remover_user", JSONValue(remover.fields))
    case .memberRenamed(let person, let name):
      event.type = .memberRenamed
      add("user", JSONValue(person.fields))
      add("name", JSONValue(name))
    case .groupRenamed(let name, let person):
      event.type = .groupRenamed
      add("user", JSONValue(person.fields))
      add("name", JSONValue(name))
    case .avatarChanged(let url, let person):
      event.type = .avatarChanged
      add("user", JSONValue(person.fields))
      if let url { add("avatar_url", JSONValue(url)) }
    case .like(let messageID, let person):
      event.type = .like
      add("user", JSONValue(person.fields))
      add("message_id", JSONValue(messageID))
    }
    return event
  }

  /// The English sentence by which old apps recognise the event. It is generated from the fields,
  /// and never parsed here.
  public var prose: String {
    switch self {
    case .memberAdded(let people, let adder):
      "\(adder.nickname) added \(Self.list(people.map(\.nickname))) to the group."
    case .memberRemoved(let person, let remover):
      "\(remover.nickname) removed \(person.nickname) from the group."
    case .memberRenamed(let person, let name): "\(person.nickname) changed name to \(name)"
    case .groupRenamed(let name, let person):
      "\(person.nickname) changed the group's name to \(name)"
    case .avatarChanged(_, let person): "\(person.nickname) changed the group's avatar"
    case .like(_, let person): "\(person.nickname) liked your message"
    }
  }

  private static func list(_ names: [String]) -> String {
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return names.dropLast().joined(separator: ", ") + " and " + last
  }

  /// Returns the message that reports the event to the group.
  ///
  /// - Parameters:
  ///   - id: The message's id.
  ///   - group: The group's id.
  ///   - time: Seconds since 1970.
  public func line(id: String, group: String, time: Int) -> GroupChat.Line {
    var line = GroupChat.Line()
    line.id = id
    line.groupID = group
    line.userID = GroupChat.systemUserID
    line.name = GroupChat.systemName
    line.text = prose
    line.createdAt = time
    line.isSystem = true
    line.event = event
    return line
  }
}

extension GroupChat.Push {
  /// Creates the push for a new message.
  public init(_ line: GroupChat.Line, receivedAt: Int) {
    self.init()
    type = line.groupID == nil ? .directMessage : .line
    alert =
      line.isSystem ? line.text ?? "" : "\(line.name): \(line.text ?? "")"
    subject = line.fields
    self.receivedAt = receivedAt
  }
}
