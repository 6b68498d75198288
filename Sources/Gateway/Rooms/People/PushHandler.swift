public import ParleyGatewayPorts
import ParleyJSON

/// A publication about which a room's member is notified while offline.
public struct PushNotification: Sendable, Equatable {
  /// The person to notify.
  public var person: PersonID
  /// The room of the publication.
  public var room: RoomName
  /// Identifies the history that the offset counts.
  public var epoch: Epoch
  /// The publication.
  public var publication: Publication

  /// The JSON body of a request to a push service.
  ///
  /// `content` and `message_type` are the strings `text` and `type` of the data if it is an object
  /// with these fields. If the data is a string, it is the `content`.
  public var json: [UInt8] {
    let (content, type) = Self.words(in: publication.data?.utf8 ?? [])
    var body: [UInt8] = []
    JSONWriter.object(&body) { object, body in
      object.field("action", "message", &body)
      object.field("user_entity_id", person, &body)
      object.field("content", content, &body)
      object.field("message_entity_id", "\(epoch)/\(publication.offset)", &body)
      object.field("thread_entity_id", room, &body)
      object.field("message_date", Int(publication.time), &body)
      object.field("message_sender_entity_id", publication.personID?.text ?? "", &body)
      object.field("message_type", type, &body)
      object.field("message_payload", publication.data, &body)
    }
    return body
  }

  private static func words(in data: [UInt8]) -> (content: String, type: String) {
    data.withUnsafeBufferPointer { bytes in
      var content = ""
      var type = ""
      var reader = JSONReader(bytes)
      do throws(JSONError) {
        if reader.isAtString {
          content = try reader.string()
        } else {
          try reader.object { key, reader throws(JSONError) in
            switch key {
            case "text" where reader.isAtString: content = try reader.string()
            case "type" where reader.isAtString: type = try reader.string()
            default: try reader.skipValue()
            }
          }
        }
      } catch {
        // Data of another form has no text for a notification.
      }
      return (content, type)
    }
  }
}

/// Notifies people who are offline. Called once per person and publication, unless
/// ``GatewaySettings/pushesFromOutbox`` is set.
public protocol PushHandler: AnyObject {
  /// Passes a notification to the push service; must not block.
  func notify(_ notification: PushNotification)
}
