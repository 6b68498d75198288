package import ParleyGatewayPorts
package import SocketMessages

/// A limit on a rate or a number, by its name in `welcome`.
package enum RateLimit: String, CaseIterable {
  case messagesPerSecondMax, bytesPerSecondMax
  case userConnectionsMax, userConnectsPerSecondMax
  case userMessagesPerSecondMax, userBytesPerSecondMax, userRequestsPerSecondMax
  case addressConnectionsMax, addressConnectsPerSecondMax
  case addressMessagesPerSecondMax, addressBytesPerSecondMax, addressRequestsPerSecondMax
}

/// A limit that was exceeded.
package struct Excess {
  package let limit: RateLimit
  /// Milliseconds after which a retry would succeed; `nil` if a connection has to close first.
  package let retryAfter: Int?

  /// Returns the message for the client's developer: the limit, and what to do.
  func words(_ limits: Limits) -> String {
    let what =
      switch limit {
      case .messagesPerSecondMax: "\(limits.messagesPerSecondMax) messages a second"
      case .bytesPerSecondMax: "\(limits.bytesPerSecondMax) bytes a second"
      case .userConnectionsMax: "\(limits.userConnectionsMax) connections of a user"
      case .userConnectsPerSecondMax:
        "\(limits.userConnectsPerSecondMax) new connections of a user a second"
      case .userMessagesPerSecondMax:
        "\(limits.userMessagesPerSecondMax) messages of a user a second"
      case .userBytesPerSecondMax: "\(limits.userBytesPerSecondMax) bytes of a user a second"
      case .userRequestsPerSecondMax:
        "\(limits.userRequestsPerSecondMax) requests of a user a second"
      case .addressConnectionsMax:
        "\(limits.addressConnectionsMax) connections from an address"
      case .addressConnectsPerSecondMax:
        "\(limits.addressConnectsPerSecondMax) new connections from an address a second"
      case .addressMessagesPerSecondMax:
        "\(limits.addressMessagesPerSecondMax) messages from an address a second"
      case .addressBytesPerSecondMax:
        "\(limits.addressBytesPerSecondMax) bytes from an address a second"
      case .addressRequestsPerSecondMax:
        "\(limits.addressRequestsPerSecondMax) requests from an address a second"
      }
    guard let retryAfter else {
      return "at most \(what) are allowed; close one first"
    }
    return "at most \(what) are allowed; send it again after \(retryAfter) ms"
  }
}

/// The limits of one connection, user or address.
package struct Allowance {
  package var connectionsMax = 0
  package var connects = Rate(perSecond: 0, burst: 0)
  package var messages: Rate
  package var bytes: Rate
  package var requests = Rate(perSecond: 0, burst: 0)

  package init(
    connectionsMax: Int = 0, connects: Rate = Rate(perSecond: 0, burst: 0), messages: Rate,
    bytes: Rate, requests: Rate = Rate(perSecond: 0, burst: 0)
  ) {
    self.connectionsMax = connectionsMax
    self.connects = connects
    self.messages = messages
    self.bytes = bytes
    self.requests = requests
  }
}

/// The limits of connections, users and addresses.
package struct Allowances {
  package let connection: Allowance
  package let user: Allowance
  package let address: Allowance
  let signs: Rate

  package init(_ limits: Limits) {
    func rate(_ perSecond: Int) -> Rate {
      Rate(perSecond: perSecond, burstSeconds: limits.burstSeconds)
    }
    connection = Allowance(
      messages: rate(limits.messagesPerSecondMax), bytes: rate(limits.bytesPerSecondMax))
    user = Allowance(
      connectionsMax: limits.userConnectionsMax, connects: rate(limits.userConnectsPerSecondMax),
      messages: rate(limits.userMessagesPerSecondMax), bytes: rate(limits.userBytesPerSecondMax),
      requests: rate(limits.userRequestsPerSecondMax))
    address = Allowance(
      connectionsMax: limits.addressConnectionsMax,
      connects: rate(limits.addressConnectsPerSecondMax),
      messages: rate(limits.addressMessagesPerSecondMax),
      bytes: rate(limits.addressBytesPerSecondMax),
      requests: rate(limits.addressRequestsPerSecondMax))
    // The burst suffices for a client that rejoins all its rooms.
    signs = Rate(
      perSecond: limits.signsPerSecondMax,
      burst: max(2 * limits.signsPerSecondMax, 2 * limits.roomsPerConnectionMax))
  }
}
