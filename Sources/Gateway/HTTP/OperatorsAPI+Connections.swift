import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// Operators' lists of connections and rooms, and their requests to close connections.
extension OperatorsAPI {
  /// Default items of one page, and the maximum.
  private static let listDefault = 100
  private static let listMax = 1_000
  /// Seconds within which a client must send a newer token.
  private static let refreshSeconds = 1...3_600
  private static let refreshSecondsDefault = 60
  /// Milliseconds from which each client's reconnect delay is drawn.
  private static let reconnectAfter = 100...2_000

  // MARK: Listing

  func listConnections(_ call: Call) throws(Response) {
    let limit = try listLimit(of: call)
    guard let after = UInt64(try call.query.text("after") ?? "0") else {
      throw .problem(400, .badMessage, "expected after to be the id of a connection listed")
    }
    let user = try call.query.text("user")
    let fitting = connectionsInOrder { connection in
      connection.isOpen && user.map { connection.isOf(user: $0) } ?? true
    }
    let rest = fitting.drop { $0.id.rawValue <= after }
    let body = ConnectionJSON.list(
      rest.prefix(limit).map(view), total: fitting.count, hasMore: rest.count > limit)
    respondForAll(call, .json(200, body))
  }

  private func view(_ connection: Connection) -> ConnectionJSON.Item {
    ConnectionJSON.Item(
      connection: connection,
      queuedBytes: connection.dialect.carrier(of: connection).map(dependencies.queuedBytes) ?? 0,
      isLagging: delivery.isLagging(connection.id))
  }

  func listRooms(_ call: Call) throws(Response) {
    let limit = try listLimit(of: call)
    let after = RoomName(try call.query.text("after") ?? "")
    let names = rooms.names.filter { after < $0 }.sorted()
    let items = names.prefix(limit).map { name in
      ConnectionJSON.RoomItem(
        room: name, subscribers: rooms.members(of: name).count,
        present: rooms.people.presence?.present(in: name).count ?? 0)
    }
    let body = ConnectionJSON.list(items, total: rooms.count, hasMore: names.count > limit)
    respondForAll(call, .json(200, body))
  }

  private func listLimit(of call: Call) throws(Response) -> Int {
    guard let limit = call.query.number("limit").or(Self.listDefault),
      (1...Self.listMax).contains(limit)
    else {
      throw .problem(400, .badMessage, "expected limit as a number from 1 to \(Self.listMax)")
    }
    return limit
  }

  // MARK: Closing and refreshing

  func disconnectConnection(_ call: Call) throws(Response) {
    let fields = try optionalFields(of: call)
    guard let connection = UInt64(call.name).flatMap({ connections[ConnectionID($0)] }),
      connection.isOpen
    else { throw .problem(404, .unknownConnection, "no connection has this id, or it has ended") }
    record(.disconnect, connection.identity?.user ?? "", detail: "connection \(call.name)", call)
    dismiss(connection, mayReconnect: fields.reconnect)
    answer(call, "disconnect", count: 1)
  }

  func disconnectUser(_ call: Call) throws(Response) {
    let fields = try optionalFields(of: call)
    record(.disconnect, call.name, detail: "all connections of the user", call)
    let meant = connections(of: call.name)
    for connection in meant { dismiss(connection, mayReconnect: fields.reconnect) }
    answer(call, "disconnect", count: meant.count)
  }

  func refreshRightsOfUser(_ call: Call) throws(Response) {
    let seconds = try optionalFields(of: call).within ?? Self.refreshSecondsDefault
    guard Self.refreshSeconds.contains(seconds) else {
      throw .problem(
        400, .badMessage,
        "expected within from \(Self.refreshSeconds.lowerBound) to "
          + "\(Self.refreshSeconds.upperBound) seconds")
    }
    record(.refreshRights, call.name, call)
    let count = rights.refresh(connections(of: call.name), within: seconds)
    answer(call, "refresh-rights", count: count)
  }

  /// Closes a connection. The client receives whether to reconnect.
  private func dismiss(_ connection: Connection, mayReconnect: Bool) {
    if connection.dialect.endSession(of: connection, mayReconnect: mayReconnect) { return }
    if mayReconnect {
      connection.dialect.sendGoodbye(
        reason: "disconnected", reconnectAfter: Self.reconnectAfter, to: connection)
      close(connection, .disconnected, "an operator has closed the connection; reconnect")
    } else {
      close(connection, .dismissed, "an operator has ended the connection")
    }
  }

  private func connections(of user: String) -> [Connection] {
    connectionsInOrder { $0.isOpen && $0.isOf(user: user) }
  }

  /// Returns the fields of a body that is optional.
  private func optionalFields(of call: Call) throws(Response) -> AccessJSON.Fields {
    guard !call.body.isEmpty else { return AccessJSON.Fields() }
    guard let fields = AccessJSON.fields(in: call.body) else {
      throw .problem(400, .badMessage, "expected a JSON object, or nothing")
    }
    return fields
  }

  private func answer(_ call: Call, _ work: String, count: Int) {
    dependencies.log.write(
      .notice, "operator request", [("work", work), ("connections", "\(count)")])
    let body = JSONWriter.object { $0.field("connections", count, &$1) }
    respondForAll(call, .json(200, body))
  }
}

extension Connection {
  /// Whether the connection is a user's. False for the open demo's shared empty name.
  func isOf(user: String) -> Bool {
    guard let identity, !identity.user.isEmpty else { return false }
    return identity.user.isExactly(user)
  }
}
