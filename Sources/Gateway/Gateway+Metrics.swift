/// The gauges of the current state.
extension Gateway {
  /// The number of open connections and sessions, by dialect.
  public var openConnections: OpenConnections {
    var open = OpenConnections(socketIO: socketIO.count, bayeux: bayeux.count)
    for connection in connections.values {
      switch connection.dialect.traits.listing {
      case .native: open.native += 1
      case .whaler: open.whaler += 1
      case .pusher: open.pusher += 1
      case .shareDB: open.shareDB += 1
      case .rustpad: open.rustpad += 1
      // Counted above, without sessions that wait to be resumed.
      case .socketIO, .bayeux: break
      }
    }
    return open
  }

  /// The number of Socket.IO and Bayeux sessions whose clients have not shown a token.
  public var unidentifiedSessions: Int { sessionTable.unidentifiedCount }

  /// The number of documents in memory.
  public var openDocuments: Int { documents.count }

  /// The number of subscriptions to documents, over all connections.
  public var documentSubscriptions: Int {
    documents.subscriptionCount
  }

  /// The number of rooms with subscribers.
  public var openRooms: Int { rooms.count }

  /// The number of connections that lag behind and wait for further changes.
  public var laggingConnections: Int { documents.delivery.laggingCount }
}
