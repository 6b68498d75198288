#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A room of a ``ParleyService``.
public struct ServiceRoom: Sendable, Identifiable {
  /// The room's name.
  public let name: String
  /// The room's name.
  public var id: String { name }
  let service: ParleyService

  /// The newest publication's position.
  public var position: RoomPosition? { get async { await service.position(in: name) } }

  /// Waits until the room is subscribed; see ``Room/opened()``.
  public func opened() async throws(RoomError) { try await service.opened(room: name) }

  /// The room's publications, in order and each once, from now on or from the subscription if that
  /// is later; see ``Room/updates``.
  ///
  /// At most 1,000 publications are buffered. Beyond that, the older half is replaced by one `gap`.
  public var updates: Updates<RoomUpdate> {
    get async { await service.updates(ofRoom: name) }
  }

  /// Publishes JSON, and waits until it is stored; see ``Room/publish(json:key:senderID:)``.
  @discardableResult
  public func publish(
    json: [UInt8], key: String? = nil, senderID: String? = nil
  ) async throws(PublishError) -> RoomPosition {
    try await service.publish(json, in: name, key: key, senderID: senderID)
  }

  /// Publishes a value as JSON, and waits until the server has stored it.
  @discardableResult
  public func publish(
    _ value: some Encodable, key: String? = nil, senderID: String? = nil
  ) async throws(PublishError) -> RoomPosition {
    guard let json = try? JSONEncoder().encode(value) else { throw .notJSON }
    return try await publish(json: Array(json), key: key, senderID: senderID)
  }

  /// Unsubscribes from the room.
  public func close() async { await service.close(room: name) }
}
