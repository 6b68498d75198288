package import ParleyGatewayPorts
import ParleyJSON

/// Requests for a room that have no effect on it, with the names of their tests. A store must not
/// retain a row of the room for them.
package enum RefusedRoomRequests {
  package static let room: RoomName = "refused"

  package static let all: [(name: String, request: StoreRequest)] = [
    (
      "a group without a name",
      .groups(.put(room, GroupChanges(), by: actor("ann"), time: 1))
    ),
    ("a group of no person", .groups(.put(room, named("G"), by: actor(nil), time: 1))),
    ("too many marks", .groups(.read(room, "ann", through: 1, marksMax: 0))),
    ("a member who leaves", .people(.member(room, "ann", isMember: false))),
    (
      "a position that is not the head",
      .room(.publish(room, outdated, retention: .standard, keyAge: 1))
    ),
    (
      "a change of values that is refused",
      .room(
        .publish(
          room,
          PublicationDraft(
            time: 1, data: nil,
            change: ValueChange([ValueOperation("a", .delete)], ifOffsets: ["a": 1])),
          retention: .standard, keyAge: 1))
    ),
    ("an epoch that is over", .room(.renewEpoch(room, from: "another", to: "newer"))),
    (
      "a publication out of reach",
      .within(
        FolderCondition(id: "missing", rights: rights),
        .room(
          .publish(
            room, PublicationDraft(time: 1, data: .null), retention: .standard, keyAge: 1)))
    ),
  ]

  private static var outdated: PublicationDraft {
    var draft = PublicationDraft(time: 1, data: .null)
    draft.ifPosition = RoomPosition(epoch: "another", offset: 1)
    return draft
  }

  private static func actor(_ person: PersonID?) -> ChangeActor {
    ChangeActor(person: person, name: "", manages: false)
  }

  private static func named(_ name: String) -> GroupChanges {
    var changes = GroupChanges()
    changes.name = name
    return changes
  }

  /// Rights that depend on the folder; the note does not exist.
  private static var rights: FolderRights {
    let identity = Identity(
      user: "ann", grants: [Grant(.folders, NamePattern("f/*"), .all)])
    guard case .inFolders(let rights) = identity.right(to: .read, ofNote: "missing") else {
      preconditionFailure("a right to a folder is one to notes in it")
    }
    return rights
  }
}
