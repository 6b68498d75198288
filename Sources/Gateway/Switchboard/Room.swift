import GatewayPorts

/// The subscribers of a room.
///
/// The name is an opaque string. Members stand in groups that speak alike: what is published is encoded
/// once for a group and handed out with the group's ids, so that nothing is looked up for each member.
struct Room {
  /// Members of one dialect, in the order in which they came.
  struct Group {
    /// Unowned, for dialects hold the rooms; the gateway holds both.
    unowned let dialect: Dialect
    fileprivate(set) var members: [ConnectionID] = []
    /// Places among the members whose connection has left.
    fileprivate var gapCount = 0
  }

  /// The place of an occupant.
  private struct Place {
    /// The number of its group; -1 while it waits for what it has missed.
    var group: Int32
    var index: Int32

    static let waiting = Place(group: -1, index: 0)
  }

  /// The mark in the place of a member who has left; no connection has this id.
  private static let gap = ConnectionID(0)

  private var groups: [Group] = []
  /// The members, and connections that wait for what they have missed.
  private var occupants: [ConnectionID: Place] = [:]

  /// The members' place in the history, if other nodes publish in the room, too.
  var cursor: RoomCursor?
  /// Whether that place is being looked for.
  var isFindingPlace = false

  var isEmpty: Bool { occupants.isEmpty }

  /// Connections that receive publications.
  var members: [ConnectionID] {
    groups.flatMap { group in
      group.gapCount == 0 ? group.members : group.members.filter { $0 != Self.gap }
    }
  }

  /// Whether somebody receives publications.
  var hasMembers: Bool { groups.contains { $0.members.count > $0.gapCount } }

  /// Makes a connection an occupant.
  mutating func admit(_ connection: ConnectionID) {
    if occupants[connection] == nil { occupants[connection] = .waiting }
  }

  /// Makes an occupant a member.
  mutating func add(_ connection: Connection) {
    guard occupants[connection.id, default: .waiting].group < 0 else { return }
    let group = groups.firstIndex { $0.dialect === connection.dialect } ?? groups.count
    if group == groups.count { groups.append(Group(dialect: connection.dialect)) }
    occupants[connection.id] = Place(
      group: Int32(group), index: Int32(groups[group].members.count))
    groups[group].members.append(connection.id)
  }

  /// Lets a member wait: what is published from here on reaches it with what it has missed.
  mutating func suspend(_ connection: ConnectionID) {
    guard let place = occupants[connection] else { return }
    leaveGroup(place)
    occupants[connection] = .waiting
  }

  mutating func remove(_ connection: ConnectionID) {
    if let place = occupants.removeValue(forKey: connection) { leaveGroup(place) }
  }

  /// The groups of members, without gaps.
  mutating func takeStock() -> [Group] {
    for group in groups.indices where groups[group].gapCount > 0 { closeGaps(of: group) }
    return groups
  }

  /// - Complexity: O(1) over many calls.
  private mutating func leaveGroup(_ place: Place) {
    guard place.group >= 0 else { return }
    let group = Int(place.group)
    groups[group].members[Int(place.index)] = Self.gap
    groups[group].gapCount += 1
    if groups[group].gapCount * 2 > groups[group].members.count { closeGaps(of: group) }
  }

  private mutating func closeGaps(of group: Int) {
    groups[group].members.removeAll { $0 == Self.gap }
    groups[group].gapCount = 0
    for (index, member) in groups[group].members.enumerated() {
      occupants[member] = Place(group: Int32(group), index: Int32(index))
    }
  }
}
