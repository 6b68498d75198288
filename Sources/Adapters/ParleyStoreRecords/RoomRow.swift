package import ParleyGatewayPorts
import ParleyJSON

/// A room's row: the state of its history.
package struct RoomRow {
  package var number: Int
  package var name: RoomName
  package var epoch: Epoch
  /// The offset of the newest publication.
  package var head: Int
  /// The time at which the publication at `head` was accepted.
  package var time: Timestamp
  /// The number and size of the room's values.
  package var values: ValueTotals

  package init(
    number: Int, name: RoomName, epoch: Epoch, head: Int, time: Timestamp,
    values: ValueTotals = ValueTotals()
  ) {
    self.number = number
    self.name = name
    self.epoch = epoch
    self.head = head
    self.time = time
    self.values = values
  }

  package var position: RoomPosition { RoomPosition(epoch: epoch, offset: head) }
}

extension RecordHasher {
  package mutating func checksum(of row: RoomRow) -> RecordChecksum {
    begin(.room)
    add(row.number)
    add(row.name)
    add(row.epoch)
    add(row.head)
    add(Int(row.time))
    // A room without values has the checksum of stores without values.
    if row.values != ValueTotals() {
      add(row.values.names)
      add(row.values.bytes)
    }
    return checksum()
  }

  package mutating func checksum(of publication: Publication, room: Int) -> RecordChecksum {
    begin(.publication)
    add(room)
    add(publication.offset)
    add(Int(publication.time))
    // Hash whether each id is present too: a missing id must not hash like an empty one.
    add(publication.personID == nil ? 0 : 1)
    add(publication.personID?.text ?? "")
    add(publication.senderID == nil ? 0 : 1)
    add(publication.senderID ?? "")
    addContent(of: publication)
    return checksum()
  }

  /// Returns the checksum of a value's record.
  package mutating func checksum(of value: RoomValue, named name: ValueName, room: Int)
    -> RecordChecksum
  {
    begin(.value)
    add(room)
    add(name)
    add(value.offset)
    add(value.value.utf8)
    add(value.expiry == nil ? 0 : 1)
    add(Int(value.expiry?.lifetime ?? 0))
    add(value.holder == nil ? 0 : 1)
    add(value.holder ?? "")
    return checksum()
  }

  /// Hashes data and values. Data alone hash as in stores without values.
  private mutating func addContent(of publication: Publication) {
    add(publication.data?.utf8 ?? [])
    guard let values = publication.values else { return }
    add(publication.data == nil ? 0 : 1)
    add(values.utf8)
  }

  /// Digests a publication and its key, to distinguish a repetition from another use of the key.
  package mutating func digest(of publication: Publication, key: String) -> RecordChecksum {
    begin(.publicationKey)
    add(key)
    add(publication.personID == nil ? 0 : 1)
    add(publication.personID?.text ?? "")
    addContent(of: publication)
    return checksum()
  }
}
