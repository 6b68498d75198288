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

  /// The newest publication's place.
  public var position: RoomPosition? { get async { await service.position(in: name) } }

  /// Waits until the room is followed.
  public func opened() async throws(NoteTrouble) { try await service.opened(room: name) }

  /// Publications from now on, or from when the room is followed if it is not yet, in order, each once;
  /// see ``Room/updates``.
  ///
  /// 1,000 publications wait for the loop. When more come, the older half is dropped for one `gap`.
  public var updates: Updates<RoomUpdate> {
    get async { await service.updates(ofRoom: name) }
  }

  /// Publishes JSON, and waits until the server has stored it; see ``Room/publish(json:key:senderID:)``.
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

  /// Hears from the room no longer.
  public func close() async { await service.close(room: name) }
}
