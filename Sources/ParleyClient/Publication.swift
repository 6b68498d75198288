import ParleyJSON
import ParleyClientCore
package import SocketMessages

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A position in a room's history.
public struct RoomPosition: Sendable, Hashable, Codable {
  /// Identifies the history.
  public let epoch: String
  /// The number of publications up to this position.
  public let offset: Int

  /// Creates a position, such as a stored one.
  public init(epoch: String, offset: Int) {
    self.epoch = epoch
    self.offset = offset
  }

  package init(_ point: ParleyModel.RoomPosition) {
    self.init(epoch: point.epoch.text, offset: point.offset)
  }

  var point: ParleyModel.RoomPosition { .init(epoch: Epoch(epoch), offset: offset) }
}

/// A publication in a room.
public struct Publication: Sendable, Hashable {
  /// The publication's position in the room's history.
  public let position: RoomPosition
  /// The time at which the server accepted it, in milliseconds since 1970.
  public let time: Int64
  /// The person who published it, set by the server; `nil` for a backend.
  public let personID: String?
  /// An id chosen by the publisher, by which an app can ignore its own publications.
  public let senderID: String?
  /// The content: JSON, as it was published.
  public let json: [UInt8]

  package init(
    position: RoomPosition, time: Int64, personID: String?, senderID: String?, json: [UInt8]
  ) {
    self.position = position
    self.time = time
    self.personID = personID
    self.senderID = senderID
    self.json = json
  }

  package init(_ publication: ParleyModel.Publication, epoch: Epoch) {
    position = RoomPosition(epoch: epoch.text, offset: publication.offset)
    time = publication.time
    personID = publication.personID?.text
    senderID = publication.senderID
    json = publication.data?.utf8 ?? []
  }

  /// Decodes the content as a value.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, by decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value {
    try decoder.decode(type, from: Data(json))
  }
}

/// An update of a room.
public enum RoomUpdate: Sendable, Hashable {
  /// Something was published.
  case publication(Publication)
  /// Publications between these positions are missing, because the server no longer has them or the
  /// reader was too slow: fetch the room's subject again.
  case gap(after: RoomPosition, through: RoomPosition)
}

/// The reason why a publication failed.
public enum PublishError: Error, Sendable, Hashable {
  /// The content is not JSON, or is nested too deep.
  case notJSON
  /// The server refused it.
  case refused(Refusal)
  /// The outcome is unknown: the server no longer knew this client. Publishing again under another
  /// key may publish twice.
  case unsure
  /// The room or the client is closed.
  case closed
  /// The server gave no answer. The content remains queued, and is published when there is a
  /// connection.
  case noAnswer(NoAnswer)
  /// The task was cancelled. The content may still be published.
  case cancelled
}

extension PublishError: CustomStringConvertible {
  /// The reason, and what to do.
  public var description: String {
    switch self {
    case .notJSON: "expected JSON that is nested at most 24 deep"
    case .refused(let refusal): "the publication is refused: \(refusal)"
    case .unsure: "the server no longer knows this client, so whether this was published is unknown"
    case .closed: "the room or the client is closed"
    case .noAnswer(let reason): "\(reason)"
    case .cancelled: "the task was cancelled"
    }
  }
}
