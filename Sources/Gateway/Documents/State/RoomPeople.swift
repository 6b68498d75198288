import ParleyGatewayPorts
import SocketMessages

/// The people in one document, as its followers know them.
struct RoomPeople {
  /// The people whom followers see, here and at other nodes.
  var presence: DocumentPresence
  /// The people that other nodes have here; `nil` without followers at this node, or without other nodes.
  private(set) var elsewhere: PeopleElsewhere?
  /// The people who are named, with their carets, as a newcomer receives them; `nil` once that has changed.
  var named: EncodedParticipants?
  /// Whether followers learn with the end of the turn who has come, acted or gone.
  var isGathering = false
  /// Whether followers learn with the next tick how many are here.
  var isCounting = false

  init(limit: Int) { presence = DocumentPresence(limit: limit) }

  // MARK: Other nodes

  /// The first follower has come: other nodes' people are shown from now on.
  mutating func meetNodes() { elsewhere = PeopleElsewhere() }

  /// The last follower has left: other nodes' people are forgotten.
  ///
  /// - Parameter limit: People who are named at most.
  mutating func partFromNodes(limit: Int) {
    elsewhere = nil
    presence = DocumentPresence(limit: limit)
    named = nil
  }

  /// Shows a client that has left this node as it is at another one, if it is at one.
  mutating func leaveHere(_ client: String) {
    presence.leave(client)
    elsewhere?.show(client, in: &presence)
  }

  /// Takes a change of a node's people.
  ///
  /// - Parameter isHere: Whether a client is shown as it is at this node.
  mutating func take(_ change: PeopleChange, of node: String, isHere: (String) -> Bool) {
    elsewhere?.take(change, of: node, in: &presence, isHere: isHere)
  }

  /// Moves carets of a node's people; returns the clients whose carets are shown at another place, or `nil` if
  /// the node's message lacks something.
  mutating func move(
    _ change: PeopleChange, of node: String, selectionsMax: Int, _ live: LiveDocument
  ) -> [String]? {
    elsewhere?.move(change, of: node, selectionsMax: selectionsMax, live)
  }

  /// Moves other nodes' carets over entries; returns the clients whose carets are shown now.
  mutating func advance(over entries: ArraySlice<LogEntry>, length: Int) -> [String] {
    elsewhere?.advance(over: entries, length: length) ?? []
  }

  /// Forgets other nodes' carets, and returns the clients that had some.
  mutating func forgetCarets() -> [String] { elsewhere?.forgetCarets() ?? [] }
}
