import ParleyGatewayPorts

/// The subscribers of a room.
///
/// The name is an opaque string. Members are grouped by dialect, and by whether they receive
/// operations on values: a publication is encoded once for a group and sent with the group's
/// connection ids, without a lookup for each member.
struct Room {
  /// Members of one dialect, in the order of joining.
  struct Group {
    /// Unowned, since dialects hold the rooms; the gateway holds both.
    unowned let dialect: Dialect
    /// Whether the members receive operations on values.
    let takesValues: Bool
    fileprivate(set) var members = GappedArray<ConnectionID>()
  }

  /// The position of an occupant.
  private struct Place {
    /// The index of its group; -1 while it waits for missed publications.
    var group: Int32
    var index: Int32

    static let waiting = Place(group: -1, index: 0)
  }

  private var groups: [Group] = []
  /// The members, and connections that wait for missed publications.
  private var occupants: [ConnectionID: Place] = [:]

  /// The members' position in the history, if other nodes publish in the room, too.
  var cursor: RoomCursor?
  /// Whether the position in the history is being read.
  var isFindingPlace = false

  var isEmpty: Bool { occupants.isEmpty }

  /// Connections that receive publications.
  var members: [ConnectionID] { groups.flatMap(\.members) }

  /// Whether any connection receives publications.
  var hasMembers: Bool { groups.contains { !$0.members.isEmpty } }

  /// Makes a connection an occupant, which waits.
  mutating func admit(_ connection: ConnectionID) {
    if occupants[connection] == nil { occupants[connection] = .waiting }
  }

  /// Makes an occupant a member.
  ///
  /// - Parameter takesValues: Whether it receives operations on values.
  mutating func add(_ connection: Connection, takesValues: Bool = false) {
    if let place = occupants[connection.id], place.group >= 0 {
      guard groups[Int(place.group)].takesValues != takesValues else { return }
      leaveGroup(place)
    }
    let own = connection.dialect
    let group =
      groups.firstIndex { own === $0.dialect && $0.takesValues == takesValues } ?? groups.count
    if group == groups.count { groups.append(Group(dialect: own, takesValues: takesValues)) }
    let index = groups[group].members.append(connection.id)
    occupants[connection.id] = Place(group: Int32(group), index: Int32(index))
  }

  /// Whether a member receives operations on values.
  func takesValues(_ connection: ConnectionID) -> Bool {
    guard let place = occupants[connection], place.group >= 0 else { return false }
    return groups[Int(place.group)].takesValues
  }

  /// Makes a member wait: it receives later publications together with those it has missed.
  mutating func suspend(_ connection: ConnectionID) {
    guard let place = occupants[connection] else { return }
    leaveGroup(place)
    occupants[connection] = .waiting
  }

  mutating func remove(_ connection: ConnectionID) {
    if let place = occupants.removeValue(forKey: connection) { leaveGroup(place) }
  }

  /// Closes the gaps in the groups of members, and returns the groups.
  mutating func compactedGroups() -> [Group] {
    for group in groups.indices where groups[group].members.closeGaps() { placeMembers(of: group) }
    return groups
  }

  /// - Complexity: Amortized O(1).
  private mutating func leaveGroup(_ place: Place) {
    let group = Int(place.group)
    guard group >= 0, groups[group].members.remove(at: Int(place.index)) else { return }
    placeMembers(of: group)
  }

  /// Updates the positions of a group's members, which have no gaps.
  private mutating func placeMembers(of group: Int) {
    for (index, member) in groups[group].members.slots.enumerated() {
      occupants[member] = Place(group: Int32(group), index: Int32(index))
    }
  }
}
