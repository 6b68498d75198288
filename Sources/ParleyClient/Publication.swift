import ParleyJSON
import ParleyClientCore
package import SocketMessages

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A place in a room's history.
public struct RoomPosition: Sendable, Hashable, Codable {
  /// Names the history.
  public let epoch: String
  /// The number of publications up to this place.
  public let offset: Int

  /// Makes a place, such as one that was stored.
  public init(epoch: String, offset: Int) {
    self.epoch = epoch
    self.offset = offset
  }

  package init(_ point: ParleyModel.RoomPosition) {
    self.init(epoch: point.epoch, offset: point.offset)
  }

  var point: ParleyModel.RoomPosition { .init(epoch: epoch, offset: offset) }
}

/// Something that was published in a room.
public struct Publication: Sendable, Hashable {
  /// Its place in the room's history.
  public let position: RoomPosition
  /// The time at which the server accepted it, in milliseconds since 1970.
  public let time: Int64
  /// The person who published it, stamped by the server; `nil` for a backend.
  public let personID: String?
  /// An id that the cause of the publication chose, so that its own app can ignore the publication.
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

  package init(_ publication: ParleyModel.Publication, epoch: String) {
    position = RoomPosition(epoch: epoch, offset: publication.offset)
    time = publication.time
    personID = publication.personID
    senderID = publication.senderID
    json = publication.data.utf8
  }

  /// Returns the content as a value of a type of yours.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, by decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value {
    try decoder.decode(type, from: Data(json))
  }
}

/// News of a room.
public enum RoomUpdate: Sendable, Hashable {
  /// Something was published.
  case publication(Publication)
  /// Publications between these places are missing, for they are no longer known, or the reader was
  /// too slow: fetch the room's subject again.
  case gap(after: RoomPosition, through: RoomPosition)
}

/// Why something was not published.
public enum PublishError: Error, Sendable, Hashable {
  /// The content is no JSON, or is nested too deep.
  case notJSON
  /// The server refuses it.
  case refused(Refusal)
  /// An unknown outcome: the server no longer knew this client. Publishing it again, under
  /// another key, may publish it twice.
  case unsure
  /// The client has ended.
  case closed
  /// The task was cancelled. It may be published all the same.
  case cancelled
}
