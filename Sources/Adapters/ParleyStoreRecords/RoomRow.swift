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

  package init(number: Int, name: RoomName, epoch: Epoch, head: Int, time: Timestamp) {
    self.number = number
    self.name = name
    self.epoch = epoch
    self.head = head
    self.time = time
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
    add(publication.data.utf8)
    return checksum()
  }

  /// Digests a publication and its key, to distinguish a repetition from another use of the key.
  package mutating func digest(of publication: Publication, key: String) -> RecordChecksum {
    begin(.publicationKey)
    add(key)
    add(publication.personID == nil ? 0 : 1)
    add(publication.personID?.text ?? "")
    add(publication.data.utf8)
    return checksum()
  }
}
