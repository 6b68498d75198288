import ParleyJSON

/// The messages of a server of Pusher's protocol. Their data are text that holds JSON.
public enum PusherFrame {
  /// The first message of a connection.
  public static func established(socketID: String, activitySeconds: Int) -> [UInt8] {
    frame("pusher:connection_established") { object, bytes in
      object.field("socket_id", socketID, &bytes)
      object.field("activity_timeout", activitySeconds, &bytes)
    }
  }

  /// An error; before the connection ends, or instead of what was asked for.
  public static func error(_ error: PusherError) -> [UInt8] {
    JSONWriter.object { object, bytes in
      object.field("event", "pusher:error", &bytes)
      object.key("data", &bytes)
      JSONWriter.object(&bytes) { object, bytes in
        object.field("code", error.code, &bytes)
        object.field("message", error.message, &bytes)
      }
    }
  }

  /// A question whether the client is there.
  public static let ping = frame("pusher:ping") { _, _ in }

  /// The answer to a ping.
  public static let pong = frame("pusher:pong") { _, _ in }

  /// A client may subscribe, and does.
  ///
  /// - Parameter members: The members of a presence channel; `nil` for another one.
  public static func subscribed(to channel: String, members: [PusherMember]?) -> [UInt8] {
    frame("pusher_internal:subscription_succeeded", channel) { object, bytes in
      guard let members else { return }
      object.key("presence", &bytes)
      JSONWriter.object(&bytes) { object, bytes in
        object.key("ids", &bytes)
        JSONWriter.array(members, &bytes) { JSONWriter.string($0.userID, &$1) }
        object.key("hash", &bytes)
        JSONWriter.object(&bytes) { object, bytes in
          for member in members {
            object.key(named: member.userID, &bytes)
            bytes += (member.info ?? .null).utf8
          }
        }
        object.field("count", members.count, &bytes)
      }
    }
  }

  /// A client may not subscribe.
  public static func refused(_ error: PusherSubscriptionError, channel: String) -> [UInt8] {
    JSONWriter.object { object, bytes in
      object.field("event", "pusher:subscription_error", &bytes)
      object.field("channel", channel, &bytes)
      object.key("data", &bytes)
      JSONWriter.object(&bytes) { object, bytes in
        object.field("type", error.type, &bytes)
        object.field("error", error.message, &bytes)
        object.field("status", error.status, &bytes)
      }
    }
  }

  /// A user has come to a presence channel.
  public static func added(_ member: PusherMember, channel: String) -> [UInt8] {
    frame("pusher_internal:member_added", channel) { object, bytes in
      object.field("user_id", member.userID, &bytes)
      if let info = member.info { object.field("user_info", info, &bytes) }
    }
  }

  /// A user has left a presence channel.
  public static func removed(_ userID: String, channel: String) -> [UInt8] {
    frame("pusher_internal:member_removed", channel) { object, bytes in
      object.field("user_id", userID, &bytes)
    }
  }

  /// A user is signed in.
  public static func signedIn(userData: String) -> [UInt8] {
    frame("pusher:signin_success") { $0.field("user_data", userData, &$1) }
  }

  /// A cache channel has no last event.
  public static func cacheMiss(channel: String) -> [UInt8] {
    frame("pusher:cache_miss", channel) { _, _ in }
  }

  /// An event of the app's back end.
  ///
  /// - Parameter data: Text, which is passed on as it is.
  public static func event(_ name: String, channel: String, data: String) -> [UInt8] {
    JSONWriter.object { object, bytes in
      object.field("event", name, &bytes)
      object.field("channel", channel, &bytes)
      object.field("data", data, &bytes)
    }
  }

  /// An event of another subscriber, with its data as they were sent.
  public static func event(_ event: PusherClientEvent) -> [UInt8] {
    JSONWriter.object { object, bytes in
      object.field("event", event.event, &bytes)
      object.field("channel", event.channel.name, &bytes)
      object.field("data", event.data, &bytes)
      if let user = event.userID { object.field("user_id", user, &bytes) }
    }
  }

  private static func frame(
    _ event: String, _ channel: String? = nil,
    _ write: (inout JSONWriter.Object, inout [UInt8]) -> Void
  ) -> [UInt8] {
    let data = JSONWriter.object(write)
    return JSONWriter.object { object, bytes in
      object.field("event", event, &bytes)
      if let channel { object.field("channel", channel, &bytes) }
      object.key("data", &bytes)
      data.withUnsafeBufferPointer { JSONWriter.string($0, &bytes) }
    }
  }
}
