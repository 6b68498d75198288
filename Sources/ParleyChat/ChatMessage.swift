import ParleyJSON
public import ParleyClient

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A message in a thread: a publication of its room.
public struct ChatMessage: Sendable, Hashable, Identifiable {
  /// A message's thread, and its place there.
  public struct ID: Sendable, Hashable {
    /// The thread.
    public let thread: ChatThread
    /// The place.
    public let position: RoomPosition

    /// Makes an id from what was kept of one.
    public init(thread: ChatThread, position: RoomPosition) {
      self.thread = thread
      self.position = position
    }
  }

  /// The stage that a message has reached with a person. It never goes back.
  public enum Stage: Sendable, Hashable, Comparable, CaseIterable {
    /// It has reached a device.
    case delivered
    /// It has been read.
    case read
  }

  /// The thread and the place.
  public let id: ID
  /// The person who sent it, stamped by the server; `nil` for a backend without a person.
  public let sender: ChatPerson.ID?
  /// The name that the sending app gave itself.
  public let senderID: String?
  /// The time at which the server accepted it, in milliseconds since 1970.
  public let time: Int64
  /// The content: JSON, as it was sent.
  public let json: [UInt8]
  /// The content's `text`, or the content itself if it is a string; what push notifications show.
  public let text: String?
  /// The content's `type`.
  public let type: String?

  package init(_ publication: Publication, in thread: ChatThread) {
    self.init(
      id: ID(thread: thread, position: publication.position),
      sender: publication.personID.map { ChatPerson.ID($0) }, senderID: publication.senderID,
      time: publication.time, json: publication.json)
  }

  /// Makes a message, such as in a handler of an app's own.
  ///
  /// - Parameter json: The content. Bytes that are no JSON have no ``text`` and no ``type``.
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

  /// Returns the content as a value of a type of yours.
  ///
  /// - Throws: The decoder's error where the content is another.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, by decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value {
    try decoder.decode(type, from: Data(json))
  }
}

/// The content of a message of text, as push notifications and ``ChatMessage/text`` read it.
struct TextContent: Encodable {
  let type = "text"
  let text: String

  private enum CodingKeys: CodingKey { case type, text }
}
