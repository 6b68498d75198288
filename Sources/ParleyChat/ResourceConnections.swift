public import ParleyClient

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A notification about a resource.
public enum ResourceMessage: Sendable, Hashable {
  /// An update by another app, as published under the resource's id.
  case updated(Publication)
  /// The resource has changed, without details: fetch it again.
  case changed
  /// Updates between these positions are missing, because the server no longer stores them: fetch
  /// the resource again.
  case updatesMissed(after: RoomPosition, through: RoomPosition)
}

/// The reason why a resource is disconnected.
public enum ResourceDisconnection: Sendable, Hashable {
  /// The connection was lost; it is reopened automatically.
  case offline
  /// The server has ended the subscription, for example because a right was revoked.
  case failed(NoteTrouble)
  /// The app has closed the resource's room.
  case closed
}

/// An object that is notified of a resource's changes, on the main actor.
///
/// Lost connections are reopened automatically. Updates published meanwhile are delivered before
/// ``resourceDidConnect(_:)``.
@MainActor public protocol ResourceDelegate: AnyObject {
  /// The resource is subscribed: changes are delivered from now on.
  func resourceDidConnect(_ id: String)

  /// The resource has changed.
  func resource(_ id: String, didReceive message: ResourceMessage)

  /// The resource is not subscribed for now.
  func resource(_ id: String, didDisconnect reason: ResourceDisconnection)
}

/// Resources that an app watches by their ids, each with a delegate.
///
///     let resources = ResourceConnections(parley)
///     registration = resources.register("account-7", delegate: self)
///
///     func resource(_ id: String, didReceive message: ResourceMessage) {
///       switch message {
///       case .updated, .changed, .updatesMissed: reload()
///       }
///     }
///
/// An id is a room of the server: a program that changes the resource publishes there. All
/// resources share one connection. Updates published by this app are not delivered to it.
@MainActor public final class ResourceConnections {
  /// The id of this app's instance, by which it recognises its own updates. Pass it to any program
  /// that publishes for this app, such as a backend.
  public let senderID: String

  private let parley: Parley

  /// Creates a registry for a connection.
  ///
  /// - Parameter senderID: An id unique to this instance; by default a random one.
  public init(_ parley: Parley, senderID: String? = nil) {
    self.parley = parley
    self.senderID = senderID ?? UUID().uuidString
  }

  /// Watches a resource. Several delegates may watch the same one.
  ///
  /// If it is already subscribed, `resourceDidConnect` is called within this call.
  ///
  /// - Parameters:
  ///   - id: The resource's id, of 1 to 200 bytes.
  ///   - delegate: The object to notify, referenced weakly.
  /// - Returns: The registration; releasing it ends the watching.
  public func register(
    _ id: String, delegate: any ResourceDelegate
  ) -> ResourceRegistration {
    let watch = ResourceWatch(
      id: id, share: parley.share(room: id), own: senderID, delegate: delegate)
    parley.add(watch)
    watch.begin()
    return ResourceRegistration(watch)
  }

  /// Publishes an update of a resource, and waits until the server has stored it; see
  /// `Room.publish(json:key:senderID:)`. This app's own delegates are not notified.
  ///
  /// - Parameters:
  ///   - json: Any JSON value, such as the changed fields; `null` if others fetch the resource
  ///     anyway.
  ///   - key: The idempotency key: under one key the server publishes once, however often it is
  ///     retried.
  @discardableResult
  public func publish(
    json: [UInt8] = Array("null".utf8), updating id: String, key: String? = nil
  ) async throws(PublishError) -> RoomPosition {
    try await parley.publish(
      json: json, inRoom: id, key: key, senderID: senderID, notifies: false)
  }

  /// Publishes a value as JSON, as an update of a resource.
  @discardableResult
  public func publish(
    _ value: some Encodable, updating id: String, key: String? = nil
  ) async throws(PublishError) -> RoomPosition {
    guard let json = try? JSONEncoder().encode(value) else { throw .notJSON }
    return try await publish(json: Array(json), updating: id, key: key)
  }
}

/// A delegate's registration for a resource. It ends with ``cancel()``, or when it is released.
@MainActor public final class ResourceRegistration {
  /// The resource's id.
  public nonisolated let id: String
  private let watch: ResourceWatch

  init(_ watch: ResourceWatch) {
    self.watch = watch
    id = watch.id
  }

  /// Ends the registration: the delegate is no longer notified.
  public func cancel() { watch.cancel() }
}
