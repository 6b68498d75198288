public import ParleyJSON

/// An event of either dialect.
public enum DomainEvent: Sendable, Hashable {
  /// The action on a resource.
  public enum Action: Sendable, Hashable {
    /// The resource was created or changed; the wire does not distinguish them.
    case saved
    /// The resource was created.
    case created
    /// The resource was changed.
    case updated
    /// The resource was deleted.
    case deleted
  }

  /// A message changed; contains its room, its thread, and its content if the wire contains them.
  case message(Action, id: String, place: String, thread: String?, content: JSONFields?)
  /// The echo of one of the receiver's own messages, recognised by its `source_guid`.
  case echo(id: String, sourceGUID: String)
  /// The members of a group or channel changed; typed if the wire contains the details.
  case members(place: String, GroupChat.Change?)
  /// The name, picture or other properties of a group or channel changed.
  case groupInfo(Action, place: String, GroupChat.Change?)
  /// A channel's last activity was at this time, in milliseconds since 1970.
  case activity(place: String, time: Int, last: Twake.MessageSummary?)
  /// A user likes a message.
  case like(messageID: String, userID: String)
  /// A user is typing, or has stopped.
  case typing(place: String, userID: String, isTyping: Bool)
  /// Presence by user id: `true` if the user is online.
  case presence([String: Bool])
  /// Unread counts have changed.
  case badges
  /// Events of a room may have been missed, or of all rooms: fetch again what they show.
  case missed(place: String?)
  /// An event without content: a ping, or the confirmation of a subscription.
  case nothing
  /// An event of an unknown type.
  case other(type: String)
}

/// The conversion of both dialects' events to typed events.
///
/// The kind is determined by types and structured fields, never by sentences, which depend on a
/// language and may contain any name.
public struct DomainRouter: Sendable {
  /// The `source_guid`s of messages that this app has sent, by which it recognises their echoes.
  ///
  /// They are recorded before sending, because the event may arrive before the response.
  private var sent: [String] = []
  /// Maximum recorded `source_guid`s; beyond it, the oldest is forgotten.
  private let sentMax: Int

  /// Creates a router that has sent nothing.
  public init(rememberedMax: Int = 1_000) { sentMax = rememberedMax }

  /// Records the `source_guid` of a message that is about to be sent.
  public mutating func willSend(sourceGUID: String) {
    sent.append(sourceGUID)
    if sent.count > sentMax { sent.removeFirst() }
  }

  // MARK: Group chats over Bayeux

  /// Returns the event of a push on a channel.
  public func route(_ push: GroupChat.Push, on channel: String) -> DomainEvent {
    switch push.type {
    case .ping, .subscribe: return .nothing
    case .typing:
      guard let user = push.userID else { return .other(type: push.type.rawValue) }
      return .typing(place: channel, userID: user, isTyping: push.started != nil)
    case .membership:
      return .members(place: push.subject?["id"]?.string ?? channel, nil)
    case .line, .directMessage, .messageUpdate, .messageDeletion: return routeLine(push, channel)
    case .like, .favorite:
      guard let like = push.subject.flatMap({ try? GroupChat.Like($0) }) else {
        return .other(type: push.type.rawValue)
      }
      return .like(messageID: like.line.id, userID: like.userID)
    default: return .other(type: push.type.rawValue)
    }
  }

  private func routeLine(_ push: GroupChat.Push, _ channel: String) -> DomainEvent {
    guard let subject = push.subject, let line = try? GroupChat.Line(subject) else {
      return .other(type: push.type.rawValue)
    }
    let place = line.groupID ?? channel
    if let event = line.event {
      switch GroupChat.Change(event) {
      case .memberAdded?, .memberRemoved?, .memberRenamed?:
        return .members(place: place, GroupChat.Change(event))
      case .groupRenamed?, .avatarChanged?:
        return .groupInfo(.updated, place: place, GroupChat.Change(event))
      case .like(let messageID, let user)?: return .like(messageID: messageID, userID: user.id)
      case nil: return .other(type: event.type.rawValue)
      }
    }
    if push.type == .line || push.type == .directMessage, let guid = line.sourceGUID,
      sent.contains(where: { $0.isExactly(guid) })
    {
      return .echo(id: line.id, sourceGUID: guid)
    }
    let action: DomainEvent.Action =
      push.type == .messageUpdate ? .updated : push.type == .messageDeletion ? .deleted : .created
    return .message(action, id: line.id, place: place, thread: nil, content: subject)
  }

  // MARK: Twake over Socket.IO

  /// Returns the event of a `realtime:event`.
  public func route(_ event: Twake.SocketIOEvent) -> DomainEvent {
    let action: DomainEvent.Action
    switch event.data.action {
    case .remove: action = .deleted
    case .update: action = .updated
    default: return .other(type: event.data.action.rawValue)
    }
    return .message(
      action, id: event.data.messageID, place: event.name, thread: event.data.threadID,
      content: nil)
  }

  /// Returns the event of an argument of `realtime:event` or `realtime:resource`.
  public func route(_ name: String, _ argument: JSONFields) -> DomainEvent {
    if name == "realtime:resource" {
      guard let resource = try? Twake.SocketIOResource(argument) else { return .other(type: name) }
      return route(resource)
    }
    if let event = try? Twake.SocketIOEvent(argument) { return route(event) }
    guard let room = argument["name"]?.string, let data = argument["data"]?.fields,
      data["type"]?.string == "writing", let typing = data["event"]?.fields,
      let user = typing["user_id"]?.string
    else { return .other(type: name) }
    return .typing(
      place: room, userID: user, isTyping: typing["is_writing"]?.boolean ?? true)
  }

  /// Returns the event of a `realtime:resource`.
  public func route(_ resource: Twake.SocketIOResource) -> DomainEvent {
    let fields = resource.resource
    let place = fields["id"]?.string ?? resource.path ?? resource.room ?? ""
    switch resource.type {
    case .message:
      guard let id = fields["id"]?.string, let action = Self.action(resource.action) else { break }
      return .message(
        action, id: id, place: resource.room ?? place, thread: fields["thread_id"]?.string,
        content: fields)
    case .channel, .channels:
      guard let action = Self.action(resource.action) else { break }
      return .groupInfo(action, place: place, nil)
    case .channelMember:
      return .members(place: fields["channel_id"]?.string ?? place, nil)
    case .channelActivity:
      guard let time = fields["last_activity"].flatMap({ Int(jsonValue: $0) }) else { break }
      return .activity(
        place: place, time: time,
        last: fields["last_message"]?.fields.flatMap { try? Twake.MessageSummary($0) })
    case .notificationBadges: return .badges
    case .online:
      guard let list = fields["online"]?.elements else { break }
      var online: [String: Bool] = [:]
      for entry in list.compactMap(\.fields) {
        guard let user = entry["user_id"]?.string, let isOnline = entry["is_online"]?.boolean
        else { continue }
        online[user] = isOnline
      }
      return .presence(online)
    default: break
    }
    return .other(type: resource.type.rawValue)
  }

  private static func action(_ action: Twake.ResourceAction) -> DomainEvent.Action? {
    switch action {
    case .created: .created
    case .saved: .saved
    case .updated: .updated
    case .deleted: .deleted
    default: nil
    }
  }
}
