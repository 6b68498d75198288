/// The envelope of every message: `{"messageId": "…", "type": "…", "data": {…}}`.
public struct SocketMessage<Data> {
  /// Names the message; a reply bears the name of what it answers.
  public var messageID: String
  /// The type of `data`.
  public var type: String
  /// The content.
  public var data: Data

  /// Makes a message.
  public init(messageID: String, type: String, data: Data) {
    self.messageID = messageID
    self.type = type
    self.data = data
  }
}

extension SocketMessage: Sendable where Data: Sendable {}
extension SocketMessage: Equatable where Data: Equatable {}
