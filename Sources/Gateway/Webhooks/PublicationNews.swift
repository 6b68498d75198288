public import GatewayPorts
import JSON

/// A publication as it is told outside, and kept until it is.
public struct PublicationNews: Sendable, Equatable {
  /// The room of the publication.
  public var room: RoomName
  /// Names the history that the offset counts.
  public var epoch: String
  /// The publication.
  public var publication: Publication

  /// Makes news of a publication.
  public init(room: RoomName, epoch: String, publication: Publication) {
    self.room = room
    self.epoch = epoch
    self.publication = publication
  }

  /// Reads what ``draftForFollowers`` holds; `nil` if it is something else.
  public init?(json: [UInt8]) {
    var room: RoomName?
    var epoch: String?
    var data: JSONValue?
    var publication = Publication(offset: 0, time: 0, data: .null)
    let isRead = json.withUnsafeBufferPointer { bytes in
      var reader = JSONReader(bytes)
      do throws(JSONError) {
        try reader.object { key, reader throws(JSONError) in
          switch key {
          case "room": room = try reader.string()
          case "epoch": epoch = try reader.string()
          case "offset": publication.offset = try reader.integer()
          case "time": publication.time = Timestamp(try reader.integer())
          case "personId": publication.personID = try reader.string()
          case "senderId": publication.senderID = try reader.string()
          case "data": data = try reader.value()
          default: try reader.skipValue()
          }
        }
        try reader.finish()
        return true
      } catch {
        return false
      }
    }
    guard isRead, let room, let epoch, let data else { return nil }
    publication.data = data
    self.init(room: room, epoch: epoch, publication: publication)
  }

  /// Keeps the publication until its followers have been told.
  var draftForFollowers: OutboxDraft {
    var data: [UInt8] = []
    JSONWriter.object(&data, write)
    return OutboxDraft(
      target: .followers, type: "publication", subject: room, time: publication.time, data: data)
  }

  func write(_ object: inout JSONWriter.Object, _ data: inout [UInt8]) {
    object.field("room", room, &data)
    object.field("epoch", epoch, &data)
    object.field("offset", publication.offset, &data)
    object.field("time", Int(publication.time), &data)
    object.field("personId", publication.personID, &data)
    object.field("senderId", publication.senderID, &data)
    object.field("data", publication.data, &data)
  }
}
