import ParleyJSON

/// The messages of a Pusher server. Their `data` is a string that contains JSON.
public enum PusherFrame {
  /// Returns the first message of a connection.
  public static func established(socketID: String, activitySeconds: Int) -> [UInt8] {
    frame("pusher:connection_established") { object, bytes in
      object.field("socket_id", socketID, &bytes)
      object.field("activity_timeout", activitySeconds, &bytes)
    }
  }

  /// Returns an error message, which precedes the end of the connection or replaces a reply.
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

  /// A ping, which the client has to answer.
  public static let ping = frame("pusher:ping") { _, _ in }

  /// The reply to a client's ping.
  public static let pong = frame("pusher:pong") { _, _ in }

  /// Returns the reply to a successful subscription.
  ///
  /// - Parameter members: The members of a presence channel; `nil` for other channels.
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

  /// Returns the reply to a rejected subscription.
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

  /// Returns the message that a user has joined a presence channel.
  public static func added(_ member: PusherMember, channel: String) -> [UInt8] {
    frame("pusher_internal:member_added", channel) { object, bytes in
      object.field("user_id", member.userID, &bytes)
      if let info = member.info { object.field("user_info", info, &bytes) }
    }
  }

  /// Returns the message that a user has left a presence channel.
  public static func removed(_ userID: String, channel: String) -> [UInt8] {
    frame("pusher_internal:member_removed", channel) { object, bytes in
      object.field("user_id", userID, &bytes)
    }
  }

  /// Returns the reply to a successful sign-in.
  public static func signedIn(userData: String) -> [UInt8] {
    frame("pusher:signin_success") { $0.field("user_data", userData, &$1) }
  }

  /// Returns the message that a cache channel has no last event.
  public static func cacheMiss(channel: String) -> [UInt8] {
    frame("pusher:cache_miss", channel) { _, _ in }
  }

  /// Returns an event of the app's backend.
  ///
  /// - Parameter data: The data, forwarded unchanged.
  public static func event(_ name: String, channel: String, data: String) -> [UInt8] {
    JSONWriter.object { object, bytes in
      object.field("event", name, &bytes)
      object.field("channel", channel, &bytes)
      object.field("data", data, &bytes)
    }
  }

  /// Returns a client event of another subscriber. Its data is JSON as sent, not a string.
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
