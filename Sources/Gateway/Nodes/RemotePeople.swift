import ParleyGatewayPorts
import OTCore
import ParleyJSON

/// The people at other nodes in a note, with their carets at this node's newest revision.
///
/// Nodes reach a revision at different times. Carets at an older revision are moved over the
/// changes since; carets at a revision that this node lacks are held until it arrives:
///
///     revision      40      41      42 │ 43      44
///     carets at 40  ├─ move ─┴─ move ─▶│ shown
///     carets at 44                     │         held
///
/// A client may be at two nodes for a while, for example after a node has crashed. Then the last
/// one counts.
struct RemotePeople {
  /// A client at another node.
  final class RemoteClient: CaretHolder {
    /// The node.
    let node: String
    /// The person.
    fileprivate(set) var person: NodePerson
    /// The carets, at this node's newest revision.
    var selections: [Selection] = []
    /// Carets at revisions that this node lacks. Only the oldest, which are shown in any case, and
    /// the newest are held.
    fileprivate var held: [(revision: Int, selections: [Selection])] = []

    fileprivate init(node: String, person: NodePerson) {
      self.node = node
      self.person = person
    }

    var caretOwner: String { person.id }

    /// Holds carets until their revision arrives.
    fileprivate func hold(_ selections: [Selection], until revision: Int) {
      let first = held.first.flatMap { $0.revision <= revision ? $0 : nil }
      held = (first.map { [$0] } ?? []) + [(revision, selections)]
    }
  }

  /// The maximum revisions over which late carets are moved.
  static let lateMax = 200

  /// The presences of each client at other nodes; the last one is shown.
  private var clients: ExactDictionary<[RemoteClient]> = [:]

  /// Whether other nodes have no people in the note.
  var isEmpty: Bool { clients.isEmpty }

  /// Returns the presence that is shown for a client, unless the client is shown from this node.
  func shown(_ client: String) -> RemoteClient? { clients[client]?.last }

  // MARK: People

  /// Adds a node's client, or updates the client's name and colour.
  mutating func enter(_ person: NodePerson, at node: String) {
    if let seat = seat(person.id, at: node) {
      seat.person = person
    } else {
      clients[person.id, default: []].append(RemoteClient(node: node, person: person))
    }
  }

  /// Removes a node's client.
  mutating func leave(_ client: String, at node: String) {
    clients[client]?.removeAll { $0.node.isExactly(node) }
    if clients[client]?.isEmpty ?? false { clients[client] = nil }
  }

  private func seat(_ client: String, at node: String) -> RemoteClient? {
    clients[client]?.first { $0.node.isExactly(node) }
  }

  // MARK: Carets

  /// Applies the carets that a node has sent.
  ///
  /// - Parameter selectionsMax: The maximum carets of each client; further carets are dropped.
  /// - Returns: The clients whose shown carets have changed; `nil` if the carets' revision is too
  ///   old: too many changes follow it, or the changes are no longer in memory.
  mutating func move(
    _ change: PeopleChange, of node: String, selectionsMax: Int, _ live: LiveDocument
  ) -> [String]? {
    guard let caretRevision = change.caretRevision, caretRevision.epoch == live.epoch else {
      return []
    }
    let late = live.durableRevision - caretRevision.revision
    guard late <= Self.lateMax, late < 0 || caretRevision.revision >= live.oldestBase else {
      return nil
    }
    var moving: [(seat: RemoteClient, before: [Selection])] = []
    for carets in change.moved {
      guard let seat = seat(carets.id, at: node) else { continue }
      let selections = Array(carets.selections.prefix(selectionsMax))
      if late < 0 {
        seat.hold(selections, until: caretRevision.revision)
      } else {
        moving.append((seat, seat.selections))
        seat.held = []
        seat.selections = selections
      }
    }
    guard !moving.isEmpty else { return [] }
    let seats = moving.map(\.seat)
    for entry in live.durableEntries(after: caretRevision.revision) {
      Carets.move(seats, over: entry)
    }
    let length = live.durableDocument.scalarCount
    return moving.compactMap { seat, before in
      Carets.clamp(&seat.selections, to: length)
      return seat.selections == before || shown(seat.caretOwner) !== seat ? nil : seat.caretOwner
    }
  }

  /// Moves all carets over entries, and applies held carets whose revision has arrived.
  ///
  /// - Parameter length: Unicode scalars of the text after the entries.
  /// - Returns: The clients whose held carets are shown from now on.
  mutating func advance(over entries: ArraySlice<LogEntry>, length: Int) -> [String] {
    guard let last = entries.last, !clients.isEmpty else { return [] }
    var selecting: [RemoteClient] = []
    var waiting: [RemoteClient] = []
    for (_, seats) in clients {
      for seat in seats {
        if !seat.held.isEmpty { waiting.append(seat) }
        if !seat.selections.isEmpty { selecting.append(seat) }
      }
    }
    if !selecting.isEmpty {
      for entry in entries { Carets.move(selecting, over: entry) }
    }
    var arrived: [String] = []
    for seat in waiting {
      guard let held = seat.held.last(where: { $0.revision <= last.revision }) else { continue }
      seat.held.removeAll { $0.revision <= last.revision }
      seat.selections = held.selections
      for entry in entries where entry.revision > held.revision { Carets.move([seat], over: entry) }
      Carets.clamp(&seat.selections, to: length)
      if shown(seat.caretOwner) === seat { arrived.append(seat.caretOwner) }
    }
    return arrived.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Removes all carets, since the note has a new epoch.
  ///
  /// - Returns: The clients whose shown carets were removed.
  mutating func forgetCarets() -> [String] {
    var changed: [String] = []
    for (client, seats) in clients {
      if !(seats.last?.selections.isEmpty ?? true) { changed.append(client) }
      for seat in seats { (seat.selections, seat.held) = ([], []) }
    }
    return changed.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}
