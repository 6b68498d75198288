import ParleyBrokerQueues
public import ParleyGatewayPorts

/// Hints between nodes by NATS: for more nodes, or more commits, than PostgreSQL's `NOTIFY` is good for.
///
///     loop ─▶ queue ─▶ thread ─▶ parley.CLUSTER.CHANNEL
///     loop ◀─ queue ◀─ the library's thread ◀─ what other nodes have sent
///
/// Each second the thread sends itself a message. When none has come for some seconds, or the connection
/// breaks, hints count as not arriving.
public enum NATSBroker {
  /// Channels that topics are dealt out to. A node hears all of a channel's hints.
  private static let channelCount = 1_024
  /// Microseconds between messages to oneself.
  private static let probeInterval: Int64 = 1_000_000
  /// Microseconds after which a message to oneself counts as lost.
  private static let silenceMax: Int64 = 4_000_000

  /// Begins to connect, on a thread of its own, and returns at once.
  ///
  /// - Parameters:
  ///   - address: The servers.
  ///   - secret: Bytes that all nodes of the cluster have.
  ///   - log: Told when hints stop arriving, and when they arrive again.
  ///   - wake: Called when there are news to be taken.
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

  /// Sends hints, or drops them while there is no connection.
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

  /// Sends and hears until the connection breaks, or it is time to end.
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
        // Probes sent on a broken connection would all arrive at once after the reconnect.
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
