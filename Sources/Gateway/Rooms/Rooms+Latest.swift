import ParleyGatewayPorts
import SocketMessages

/// Subscribers that receive the newest values instead of each publication while they are slow.
///
/// A slow one is sent nothing until its socket has drained, and then the values, from the first page
/// on: the memory is constant, however far it is behind.
///
///     too slow ─▶ skipped … drained ─▶ read the values ─▶ a page of values ─▶ publications again
extension Rooms {
  /// Notes whether a member receives the newest values while it is slow.
  func follow(_ name: RoomName, _ connection: Connection, latest names: ValueNames?) {
    latest[connection.id]?[name] = nil
    guard let names else { return }
    latest[connection.id, default: [:]][name] = LatestValues(names: names)
  }

  /// Returns the readers of an event that are too slow for it, and marks them as lagging.
  func laggingReaders(of news: RoomEvent, among members: [ConnectionID]) -> Set<ConnectionID> {
    guard case .publication = news.content, !latest.isEmpty else { return [] }
    let allKeepUp = board.allHaveRoom(upTo: settings.laggingBytes)
    var lagging: Set<ConnectionID> = []
    for id in members {
      guard let state = latest[id]?[news.room] else { continue }
      guard state.isLagging || !allKeepUp && !board.keepsUp(id) else { continue }
      latest[id]?[news.room]?.isLagging = true
      lagging.insert(id)
    }
    return lagging
  }

  /// Reads the values for the rooms in which a connection lags, once it has drained.
  func drained(_ connection: Connection) {
    for (room, state) in latest[connection.id] ?? [:] where state.isLagging && !state.isReading {
      latest[connection.id]?[room]?.isReading = true
      readValues(
        ValueReading(room: room, query: query(state.names), reader: .lagging(connection.id)))
    }
  }

  /// Reads the values for connections that lag and have drained.
  func catchUpDrained() {
    for (id, rooms) in latest where rooms.values.contains(where: { $0.isLagging && !$0.isReading })
    {
      guard let connection = connections[id], board.keepsUp(id) else { continue }
      drained(connection)
    }
  }

  /// Sends a connection that lagged the first page of the values. From here on it receives
  /// publications again.
  func caughtUp(
    _ id: ConnectionID, in room: RoomName, _ outcome: StoreOutcome<RoomValuesPage>
  ) {
    guard latest[id]?[room] != nil, let connection = connections[id] else { return }
    latest[id]?[room]?.isReading = false
    // After a failure, the next tick tries again.
    guard case .success(let page) = outcome else { return }
    latest[id]?[room]?.isLagging = false
    send(
      .values(
        .init(
          room: room.text, position: page.head, values: NamedValues(page), hasMore: page.hasMore)),
      ref: pushID(), to: connection)
  }
}

/// A subscription that receives the newest values while it is slow.
struct LatestValues {
  /// The names of the values.
  let names: ValueNames
  /// Whether publications were skipped.
  var isLagging = false
  /// Whether the values are being read.
  var isReading = false
}
