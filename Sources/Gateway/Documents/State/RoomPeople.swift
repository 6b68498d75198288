import ParleyGatewayPorts
import SocketMessages

/// The people in one document, as shown to its followers.
struct RoomPeople {
  /// People shown to followers, at this node and at others.
  var presence: DocumentPresence
  /// People at other nodes; `nil` without followers at this node, or without other nodes.
  private(set) var elsewhere: RemotePeople?
  /// The announced people with their carets, encoded for joining clients; `nil` after a change.
  var named: EncodedParticipants?
  /// Whether followers are notified of changed people at the end of the turn.
  var awaitsEndOfTurn = false
  /// Whether followers are notified with the next tick, of the number of people or of names.
  var isCounting = false

  init(limit: Int) { presence = DocumentPresence(limit: limit) }

  // MARK: Other nodes

  /// Begins to show people at other nodes, once the first follower has joined.
  mutating func followNodes() { elsewhere = RemotePeople() }

  /// Discards all people, since the last follower has left.
  ///
  /// - Parameter limit: The maximum people who are named.
  mutating func partFromNodes(limit: Int) {
    elsewhere = nil
    presence = DocumentPresence(limit: limit)
    named = nil
  }

  /// Removes a client at this node; if it is also at another node, it is shown from there.
  mutating func leaveHere(_ client: String) {
    presence.leave(client)
    elsewhere?.show(client, in: &presence)
  }

  /// Applies a change of another node's people.
  ///
  /// - Parameter isHere: Whether a client is shown from this node.
  mutating func take(_ change: PeopleChange, of node: String, isHere: (String) -> Bool) {
    elsewhere?.take(change, of: node, in: &presence, isHere: isHere)
  }

  /// Moves carets of a node's people. Returns the clients whose shown carets have changed; `nil` if
  /// the carets' revision is too old.
  mutating func move(
    _ change: PeopleChange, of node: String, selectionsMax: Int, _ live: LiveDocument
  ) -> [String]? {
    elsewhere?.move(change, of: node, selectionsMax: selectionsMax, live)
  }

  /// Moves other nodes' carets over entries, and returns the clients whose carets now show.
  mutating func advance(over entries: ArraySlice<LogEntry>, length: Int) -> [String] {
    elsewhere?.advance(over: entries, length: length) ?? []
  }

  /// Discards other nodes' carets, and returns the clients that had some.
  mutating func forgetCarets() -> [String] { elsewhere?.forgetCarets() ?? [] }
}
