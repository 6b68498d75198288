import ParleyBrokerQueues
public import ParleyGatewayPorts

/// Hints between nodes by NATS, for more nodes or commits than PostgreSQL's `NOTIFY` can handle.
///
///     loop ─▶ queue ─▶ thread ─▶ parley.CLUSTER.CHANNEL
///     loop ◀─ queue ◀─ the library's thread ◀─ what other nodes have sent
///
/// Each second the thread sends itself a probe. If none arrives for some seconds, or the connection
/// breaks, hints count as not arriving.
public enum NATSBroker {
  /// The number of channels to which topics are assigned. A node receives all hints of a channel.
  private static let channelCount = 1_024
  /// Microseconds between probes.
  private static let probeInterval: Int64 = 1_000_000
  /// Microseconds without a received probe after which hints count as not arriving.
  private static let silenceMax: Int64 = 4_000_000

  /// Starts a thread that connects, and returns immediately.
  ///
  /// - Parameters:
  ///   - address: The servers.
  ///   - secret: A secret that all nodes of the cluster share.
  ///   - log: Receives a line when hints stop arriving, and when they arrive again.
  ///   - wake: Called when hints can be taken.
  public static func start(
    _ address: NATSAddress, secret: [UInt8], log: any LogSink,
    wake: @escaping @Sendable () -> Void
  ) -> any ServerBroker {
    let queues = HintQueues(channelCount: channelCount, wakeLoop: wake)
    BrokerThread.start(
      queues, HintFrame(secret: secret), address: address.description, log: log
    ) { thread throws(BrokerFailure) in try work(address, &thread) }
    return queues
  }

  /// Sends hints, or drops them if there is no connection.
  private static func send(
    _ hints: [HintQueues.Hint], _ frame: HintFrame, _ connection: NATSConnection,
    _ queues: HintQueues, _ prefix: String
  ) throws(BrokerFailure) {
    let count = hints.count
    guard count > 0 else { return }
    guard connection.isConnected else {
      return queues.count { $0.dropped["unconnected", default: 0] += count }
    }
    for hint in hints {
      try connection.publish(
        "\(prefix)\(queues.channel(of: hint.topic))", frame.encoded(topic: hint.topic, hint.bytes))
    }
    queues.count { $0.published += count }
  }

  /// Sends and receives hints until the connection breaks or the broker is stopped.
  private static func work(
    _ address: NATSAddress, _ thread: inout BrokerThread
  ) throws(BrokerFailure) {
    let (frame, queues) = (thread.frame, thread.queues)
    let prefix = "parley.\(frame.cluster)."
    let ownSubject = "\(prefix)node.\(frame.node.hexadecimal)"
    let context = NATSConnection.Context(
      heard: { subject, data in
        if String(cString: subject) == ownSubject {
          guard let sentAt = frame.sentAt(ofProbe: Array(data)) else {
            return queues.count { $0.foreign += 1 }
          }
          _ = queues.heardItself(sentAt: sentAt)
        } else if let content = frame.decoded(Array(data)) {
          if content.node != frame.node { queues.hear(content.topic, content.bytes) }
        } else {
          queues.count { $0.foreign += 1 }
        }
      },
      broken: { queues.hintsChanged(arrive: false) })
    let connection = try NATSConnection(address, context)
    try connection.subscribe(ownSubject)
    var listening: Set<Int> = []
    var probedAt: Int64 = 0
    let began = monotonicMicroseconds()
    while !queues.isStopping {
      let wanted = queues.channels
      for channel in wanted.subtracting(listening) {
        try connection.subscribe("\(prefix)\(channel)")
      }
      for channel in listening.subtracting(wanted) {
        connection.unsubscribe("\(prefix)\(channel)")
      }
      listening = wanted
      let now = monotonicMicroseconds()
      if now - probedAt >= probeInterval {
        probedAt = now
        // Otherwise the library would buffer probes, and send them all after reconnecting.
        if connection.isConnected { try connection.publish(ownSubject, frame.probe(sentAt: now)) }
      }
      try send(queues.takeOutgoing(), frame, connection, queues, prefix)
      let silence = queues.silence
      if !connection.isConnected || silence ?? (now - began) >= silenceMax {
        thread.wentDown("no server answers")
      } else if silence != nil {
        thread.cameUp()
      }
      queues.awaitWork(
        atMostMilliseconds: max(1, (probedAt + probeInterval - now) / 1_000))
    }
  }
}
