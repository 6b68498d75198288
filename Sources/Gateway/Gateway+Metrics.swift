/// The gauges of what is there now.
extension Gateway {
  /// Connections and sessions that are open, by dialect.
  public var openConnections: OpenConnections {
    var open = OpenConnections(socketIO: socketIO.count, bayeux: bayeux.count)
    for connection in connections.values {
      switch connection.dialect.traits.listing {
      case .native: open.native += 1
      case .whaler: open.whaler += 1
      case .pusher: open.pusher += 1
      // Counted above, without sessions that are away.
      case .socketIO, .bayeux: break
      }
    }
    return open
  }

  /// Sessions of Socket.IO and Bayeux whose clients have not shown a token.
  public var unidentifiedSessions: Int { sessionTable.unidentifiedCount }

  /// Documents in memory.
  public var openDocuments: Int { documents.count }

  /// Subscriptions to documents, over all connections.
  public var documentSubscriptions: Int {
    documents.subscriptionCount
  }

  /// Rooms that have subscribers.
  public var openRooms: Int { rooms.count }

  /// Connections whose readers are behind and wait to be given more.
  public var laggingConnections: Int { documents.delivery.laggingCount }
}
