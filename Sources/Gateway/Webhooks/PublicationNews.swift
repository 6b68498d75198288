public import ParleyGatewayPorts
import ParleyJSON

/// A publication in the form for other services, stored until it is delivered.
public struct PublicationExport: Sendable, Equatable {
  /// The room of the publication.
  public var room: RoomName
  /// Identifies the history that the offset counts.
  public var epoch: Epoch
  /// The publication.
  public var publication: Publication

  /// Creates the form of a publication.
  public init(room: RoomName, epoch: Epoch, publication: Publication) {
    self.room = room
    self.epoch = epoch
    self.publication = publication
  }

  /// Decodes the data of ``draftForFollowers``; `nil` for other data.
  public init?(json: [UInt8]) {
    guard let fields = JSONFields(json), let room = fields["room"]?.string,
      let epoch = fields["epoch"]?.string, let offset = fields["offset"]?.integer,
      let time = fields["time"]?.integer
    else { return nil }
    self.init(
      room: RoomName(room), epoch: Epoch(epoch),
      publication: Publication(
        offset: offset, time: Timestamp(time),
        personID: (fields["personId"]?.string).map { PersonID($0) },
        senderID: fields["senderId"]?.string, data: fields["data"], values: fields["values"]))
  }

  /// The outbox entry that stores the publication until its followers have been notified.
  var draftForFollowers: OutboxDraft {
    var data: [UInt8] = []
    JSONWriter.object(&data, write)
    return OutboxDraft(
      target: .followers, type: "publication", subject: room.text, time: publication.time,
      data: data)
  }

  func write(_ object: inout JSONWriter.Object, _ data: inout [UInt8]) {
    object.field("room", room, &data)
    object.field("epoch", epoch.text, &data)
    object.field("offset", publication.offset, &data)
    object.field("time", Int(publication.time), &data)
    object.field("personId", publication.personID, &data)
    object.field("senderId", publication.senderID, &data)
    object.field("data", publication.data, &data)
    object.field("values", publication.values, &data)
  }
}
