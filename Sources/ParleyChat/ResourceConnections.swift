public import ParleyClient

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A message about a resource, to be switched on.
public enum ResourceMessage: Sendable, Hashable {
  /// An update by another app, as it was published under the resource's id.
  case updated(Publication)
  /// The server says only that the resource has changed: fetch it again.
  case changed
  /// Updates between these places are missing, for the server no longer keeps them: fetch the
  /// resource again.
  case updatesMissed(after: RoomPosition, through: RoomPosition)
}

/// The reason why nothing is heard of a resource.
public enum ResourceDisconnection: Sendable, Hashable {
  /// The connection was lost; it is opened again by itself.
  case offline
  /// The server has ended it, such as for a right that was taken away.
  case failed(NoteTrouble)
  /// The app has closed the resource's room.
  case closed
}

/// An object that is notified of a resource's changes, on the main actor, step by step.
///
/// After each connection that is lost comes another, without the delegate doing anything. Updates
/// published in between are passed first, then ``resourceDidConnect(_:)``.
@MainActor public protocol ResourceDelegate: AnyObject {
  /// The resource is followed from here.
  func resourceDidConnect(_ id: String)

  /// The resource has changed.
  func resource(_ id: String, didReceive message: ResourceMessage)

  /// The resource is not followed for now.
  func resource(_ id: String, didDisconnect reason: ResourceDisconnection)
}

/// Resources that an app watches by their ids, with a delegate for each.
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
/// An id is a room of the server: a program that changes the resource publishes there. All of them
/// share one connection. What this app has published itself is left out.
@MainActor public final class ResourceConnections {
  /// The name of this app's instance, by which it knows its own updates. Give it to whatever
  /// publishes for this app, such as requests to a backend.
  public let senderID: String

  private let parley: Parley

  /// Makes a registry over a connection.
  ///
  /// - Parameter senderID: A name that no other instance has; a random one if you give none.
  public init(_ parley: Parley, senderID: String? = nil) {
    self.parley = parley
    self.senderID = senderID ?? UUID().uuidString
  }

  /// Watches a resource. Several may watch the same one.
  ///
  /// Where it is followed already, `resourceDidConnect` is called within this call.
  ///
  /// - Parameters:
  ///   - id: The resource's id, of 1 to 200 bytes.
  ///   - delegate: The object to tell. It is not kept.
  /// - Returns: The registration: it lasts for as long as it is there.
  public func register(
    _ id: String, delegate: any ResourceDelegate
  ) -> ResourceRegistration {
    let watch = ResourceWatch(
      id: id, share: parley.share(room: id), own: senderID, delegate: delegate)
    parley.add(watch)
    watch.begin()
    return ResourceRegistration(watch)
  }

  /// Publishes an update of a resource; waits until the server has stored it, and while the server is
  /// not there, until it is. This app's own delegates do not hear of it.
  ///
  /// - Parameters:
  ///   - json: Any JSON value, such as what has changed; `null` where others fetch it anyway.
  ///   - key: A name of your own: under one key it is published once, however often it is tried.
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
  /// The resource.
  public nonisolated let id: String
  private let watch: ResourceWatch

  init(_ watch: ResourceWatch) {
    self.watch = watch
    id = watch.id
  }

  /// Ends it: the delegate hears nothing more.
  public func cancel() { watch.cancel() }
}
