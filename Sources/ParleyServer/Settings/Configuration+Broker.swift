import ParleyBrokerNATS
import ParleyPostgreSQLAdapter
import ParleyGatewayPorts

/// The broker that the settings select.
extension Configuration {
  /// The kinds of brokers, with their addresses.
  private enum BrokerLocation {
    case database(PostgresAddress)
    case nats(NATSAddress)
  }

  private var brokerPlace: BrokerLocation? {
    // A store in a file has a single gateway, which needs no broker.
    guard isStoreInDatabase, let url = brokerURL ?? storeURL else { return nil }
    return PostgresAddress(url).map(BrokerLocation.database)
      ?? NATSAddress(url).map(BrokerLocation.nats)
  }

  /// Starts connecting to the broker; `nil` if missing.
  ///
  /// - Parameters:
  ///   - secret: A secret that all gateways on the store share.
  ///   - wake: Called when hints have arrived.
  func broker(
    secret: [UInt8], log: any LogSink, wake: @escaping @Sendable () -> Void
  ) -> (any ServerBroker)? {
    switch brokerPlace {
    case .database(let address)?:
      PostgresBroker.start(address, secret: secret, log: log, wake: wake)
    case .nats(let address)?: NATSBroker.start(address, secret: secret, log: log, wake: wake)
    case nil: nil
    }
  }

  /// Whether a text is a valid `broker-url`.
  static func isBrokerURL(_ text: String) -> Bool {
    text == "none" || PostgresAddress(text) != nil || NATSAddress(text) != nil
  }

  /// Returns an address without its password.
  static func shownBrokerURL(_ text: String) -> String {
    guard text != "none" else { return text }
    return PostgresAddress(text)?.description ?? NATSAddress(text)?.description ?? "an address"
  }
}
