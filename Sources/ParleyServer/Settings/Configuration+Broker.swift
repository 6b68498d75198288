import BrokerNATS
import PostgreSQLAdapter
import GatewayPorts

/// The broker that the settings name.
extension Configuration {
  /// The kinds of brokers, each with its place.
  private enum BrokerPlace {
    case database(PostgresAddress)
    case nats(NATSAddress)
  }

  private var brokerPlace: BrokerPlace? {
    // A single file has one gateway, which needs no broker.
    guard isStoreInDatabase, let url = brokerURL ?? storeURL else { return nil }
    return PostgresAddress(url).map(BrokerPlace.database)
      ?? NATSAddress(url).map(BrokerPlace.nats)
  }

  /// Begins to connect to it; `nil` for none.
  ///
  /// - Parameters:
  ///   - secret: Bytes that all gateways on the same store have.
  ///   - wake: Called when it has news.
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

  /// Whether a text is what `broker-url` takes.
  static func isBrokerURL(_ text: String) -> Bool {
    text == "none" || PostgresAddress(text) != nil || NATSAddress(text) != nil
  }

  /// An address without its password.
  static func shownBrokerURL(_ text: String) -> String {
    guard text != "none" else { return text }
    return PostgresAddress(text)?.description ?? NATSAddress(text)?.description ?? "an address"
  }
}
