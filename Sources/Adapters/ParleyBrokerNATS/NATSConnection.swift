import ParleyBrokerQueues
import CParleyNATS
import Glibc

/// A connection to NATS, closed when its owner is destroyed. The library reconnects if it is lost.
///
/// Callbacks run on the library's threads, and one may still run after the connection is closed. So
/// the connection and each subscription retain the context until the library reports their end.
final class NATSConnection {
  /// The receivers of the library's callbacks.
  final class Context: Sendable {
    let heard: @Sendable (_ subject: UnsafePointer<CChar>, _ data: UnsafeRawBufferPointer) -> Void
    let broken: @Sendable () -> Void

    init(
      heard: @escaping @Sendable (UnsafePointer<CChar>, UnsafeRawBufferPointer) -> Void,
      broken: @escaping @Sendable () -> Void
    ) {
      self.heard = heard
      self.broken = broken
    }
  }

  private var handle: OpaquePointer?
  private let context: Context
  private var subscriptions: [String: OpaquePointer] = [:]

  /// The maximum pending messages of one subscription. Beyond it, messages are dropped.
  private static let pendingMax: Int32 = 8_192

  /// Starts to connect, and returns immediately even without a reply: the library retries.
  init(_ address: NATSAddress, _ context: Context) throws(BrokerFailure) {
    self.context = context
    let kept = Unmanaged.passRetained(context).toOpaque()
    var isKept = false
    defer { if !isKept { Self.release(kept) } }
    var options: OpaquePointer?
    try Self.check(natsOptions_Create(&options))
    defer { natsOptions_Destroy(options) }
    let servers = address.servers.map { UnsafePointer(strdup($0)) }
    defer { for server in servers { free(UnsafeMutablePointer(mutating: server)) } }
    var names: [UnsafePointer<CChar>?] = servers
    for status in [
      natsOptions_SetServers(options, &names, Int32(names.count)),
      natsOptions_SetName(options, "parley"),
      natsOptions_SetTimeout(options, 2_000),
      natsOptions_SetMaxReconnect(options, -1),
      natsOptions_SetReconnectWait(options, 200),
      natsOptions_SetReconnectJitter(options, 300, 300),
      natsOptions_SetPingInterval(options, 2_000),
      natsOptions_SetMaxPingsOut(options, 2),
      natsOptions_SetMaxPendingMsgs(options, Self.pendingMax),
      // Use one thread for all subscriptions instead of one for each.
      natsOptions_UseGlobalMessageDelivery(options, true),
      natsOptions_SetRetryOnFailedConnect(options, true, { _, _ in }, nil),
      natsOptions_SetDisconnectedCB(
        options, { _, raw in NATSConnection.context(raw)?.broken() }, kept),
      natsOptions_SetClosedCB(options, { _, raw in NATSConnection.release(raw) }, kept),
      // Without a handler, the library would write to standard error.
      natsOptions_SetErrorHandler(options, { _, _, _, _ in }, nil),
    ] { try Self.check(status) }
    let status = natsConnection_Connect(&handle, options)
    if status != NATS_NOT_YET_CONNECTED { try Self.check(status) }
    isKept = true
  }

  deinit {
    for subscription in subscriptions.values { natsSubscription_Destroy(subscription) }
    natsConnection_Close(handle)
    natsConnection_Destroy(handle)
  }

  /// Whether the connection is established now.
  var isConnected: Bool { natsConnection_Status(handle) == NATS_CONN_STATUS_CONNECTED }

  /// Subscribes to a subject.
  func subscribe(_ subject: String) throws(BrokerFailure) {
    let kept = Unmanaged.passRetained(context).toOpaque()
    var subscription: OpaquePointer?
    let status = natsConnection_Subscribe(
      &subscription, handle, subject,
      { _, _, message, raw in
        defer { natsMsg_Destroy(message) }
        guard let subject = natsMsg_GetSubject(message) else { return }
        let data = UnsafeRawBufferPointer(
          start: natsMsg_GetData(message), count: Int(natsMsg_GetDataLength(message)))
        NATSConnection.context(raw)?.heard(subject, data)
      }, kept)
    if status != NATS_OK { Self.release(kept) }
    try Self.check(status)
    subscriptions[subject] = subscription
    try Self.check(
      natsSubscription_SetOnCompleteCB(subscription, { NATSConnection.release($0) }, kept))
  }

  /// Unsubscribes from a subject.
  func unsubscribe(_ subject: String) {
    guard let subscription = subscriptions.removeValue(forKey: subject) else { return }
    natsSubscription_Unsubscribe(subscription)
    natsSubscription_Destroy(subscription)
  }

  /// Queues a message, which the library sends soon.
  func publish(_ subject: String, _ bytes: [UInt8]) throws(BrokerFailure) {
    try Self.check(
      bytes.withUnsafeBytes {
        natsConnection_Publish(handle, subject, $0.baseAddress, Int32($0.count))
      })
  }

  private static func context(_ raw: UnsafeMutableRawPointer?) -> Context? {
    raw.map { Unmanaged<Context>.fromOpaque($0).takeUnretainedValue() }
  }

  private static func release(_ raw: UnsafeMutableRawPointer?) {
    if let raw { Unmanaged<Context>.fromOpaque(raw).release() }
  }

  private static func check(_ status: natsStatus) throws(BrokerFailure) {
    guard status != NATS_OK else { return }
    let text = natsStatus_GetText(status).map { String(cString: $0) }
    throw BrokerFailure(reason: text ?? "status \(status.rawValue)")
  }
}
