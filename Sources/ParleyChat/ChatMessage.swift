import ParleyJSON
public import ParleyClient

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A message in a thread: a publication of its room.
public struct ChatMessage: Sendable, Hashable, Identifiable {
  /// A message's thread, and its position there.
  public struct ID: Sendable, Hashable {
    /// The thread.
    public let thread: ChatThread
    /// The position in the thread's history.
    public let position: RoomPosition

    /// Creates an id, such as from stored values.
    public init(thread: ChatThread, position: RoomPosition) {
      self.thread = thread
      self.position = position
    }
  }

  /// The stage of a message's delivery to a person. It only advances.
  public enum Stage: Sendable, Hashable, Comparable, CaseIterable {
    /// A device of the person has received the message.
    case delivered
    /// The person has read the message.
    case read
  }

  /// The thread and the position.
  public let id: ID
  /// The person who sent it, set by the server; `nil` for a backend without a person.
  public let sender: ChatPerson.ID?
  /// The sender id that the sending app chose.
  public let senderID: String?
  /// The time at which the server accepted it, in milliseconds since 1970.
  public let time: Int64
  /// The content: JSON, as it was sent.
  public let json: [UInt8]
  /// The content's `text`, or the content itself if it is a string. Push notifications show it.
  public let text: String?
  /// The content's `type`.
  public let type: String?

  package init(_ publication: Publication, in thread: ChatThread) {
    self.init(
      id: ID(thread: thread, position: publication.position),
      sender: publication.personID.map { ChatPerson.ID($0) }, senderID: publication.senderID,
      time: publication.time, json: publication.json)
  }

  /// Creates a message, for example in an app's own handler.
  ///
  /// - Parameter json: The content. If it is not JSON, ``text`` and ``type`` are `nil`.
  /// - Complexity: O(*n*) bytes of content.
  public init(
    id: ID, sender: ChatPerson.ID?, senderID: String? = nil, time: Int64, json: [UInt8]
  ) {
    self.id = id
    self.sender = sender
    self.senderID = senderID
    self.time = time
    self.json = json
    let fields = JSONFields(json)
    text = fields?["text"]?.string ?? JSONValue(json)?.string
    type = fields?["type"]?.string
  }

  /// Decodes the content as a value.
  ///
  /// - Throws: The decoder's error.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, by decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value {
    try decoder.decode(type, from: Data(json))
  }
}

/// The content of a text message, as read by push notifications and ``ChatMessage/text``.
struct TextContent: Encodable {
  let type = "text"
  let text: String

  private enum CodingKeys: CodingKey { case type, text }
}
