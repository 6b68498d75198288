public import ParleyClient

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The connection, and sending.
@MainActor public protocol CoreHandler: Sendable {
  /// The connection's state.
  var connection: ConnectionState { get }
  /// The signed-in person; `nil` before the first connection, and if tokens have no users.
  var person: ChatPerson.ID? { get }
  /// The server's time, in milliseconds since 1970; `nil` before the first connection.
  var serverTime: Int64? { get }

  /// Connects, and reconnects after each loss.
  func goOnline()

  /// Ends the connection.
  func goOffline()

  /// Sends a message, and waits until the server has stored it. It throws `noAnswer` after the
  /// client's timeout without a connection; the message is sent later then. Maximum waiting messages
  /// in a thread: 1,000.
  ///
  /// - Parameter json: Any JSON value.
  /// - Returns: The message's thread and position.
  @discardableResult
  func send(
    json: [UInt8], to thread: ChatThread, _ options: SendOptions
  ) async throws(PublishError) -> ChatMessage.ID
}

/// Options for sending a message.
public struct SendOptions: Sendable, Hashable {
  /// The idempotency key: under one key the message is sent once, however often it is retried. With
  /// `nil` a random one is used.
  public var key: String?
  /// An id of this app, by which it recognises its own messages.
  public var senderID: String?
  /// Whether the thread's followers who are offline are notified; see ``PushHandler``.
  public var notifiesFollowers: Bool

  /// Creates options.
  public init(key: String? = nil, senderID: String? = nil, notifiesFollowers: Bool = false) {
    self.key = key
    self.senderID = senderID
    self.notifiesFollowers = notifiesFollowers
  }
}

extension CoreHandler {
  /// Sends a text; its content is `{"type":"text","text":…}`.
  @discardableResult
  public func send(
    text: String, to thread: ChatThread, _ options: SendOptions = SendOptions()
  ) async throws(PublishError) -> ChatMessage.ID {
    try await send(TextContent(text: text), to: thread, options)
  }

  /// Sends a value as JSON.
  @discardableResult
  public func send(
    _ content: some Encodable, to thread: ChatThread, _ options: SendOptions = SendOptions()
  ) async throws(PublishError) -> ChatMessage.ID {
    guard let json = try? JSONEncoder().encode(content) else { throw .notJSON }
    return try await send(json: Array(json), to: thread, options)
  }
}

/// The connection of a `Parley`.
struct GatewayCore: CoreHandler {
  let parley: Parley

  var connection: ConnectionState { parley.connection }
  var person: ChatPerson.ID? { parley.personID.map { ChatPerson.ID($0) } }
  var serverTime: Int64? { parley.serverTime }

  func goOnline() { parley.start() }

  func goOffline() { parley.stop() }

  func send(
    json: [UInt8], to thread: ChatThread, _ options: SendOptions
  ) async throws(PublishError) -> ChatMessage.ID {
    let position = try await parley.publish(
      json: json, inRoom: thread.name, key: options.key, senderID: options.senderID,
      notifies: options.notifiesFollowers)
    return ChatMessage.ID(thread: thread, position: position)
  }
}
