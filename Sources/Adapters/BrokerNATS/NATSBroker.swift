import BrokerQueues
public import GatewayPorts

/// Hints between nodes by NATS: for more nodes, or more commits, than PostgreSQL's `NOTIFY` is good for.
///
///     loop ─▶ queue ─▶ thread ─▶ parley.CLUSTER.CHANNEL
///     loop ◀─ queue ◀─ the library's thread ◀─ what other nodes have sent
///
/// Each second the thread sends itself a message. When none has come for some seconds, or the connection
/// breaks, hints count as not arriving.
public final class NATSBroker: ServerBroker {
  /// Channels that topics are dealt out to. A node hears all of a channel's hints.
  private static let channelCount = 1_024
  /// Microseconds between messages to oneself.
  private static let probeInterval: Int64 = 1_000_000
  /// Microseconds after which a message to oneself counts as lost.
  private static let silenceMax: Int64 = 4_000_000

  private let queues: HintQueues

  /// Begins to connect, on a thread of its own, and returns at once.
  ///
  /// - Parameters:
  ///   - address: The servers.
  ///   - secret: Bytes that all nodes of the cluster have.
  ///   - log: Told when hints stop arriving, and when they arrive again.
  ///   - wake: Called when there are news to be taken.
  public init(
    _ address: NATSAddress, secret: [UInt8], log: any LogSink,
    wake: @escaping @Sendable () -> Void
  ) {
    queues = HintQueues(channelCount: Self.channelCount, wakeLoop: wake)
    queues.run { queues in
      var worker = Worker(address: address, frame: HintFrame(secret: secret), queues: queues, log)
      worker.run()
    }
  }

  /// See ``Broker``.
  public func publish(_ topic: String, _ bytes: [UInt8]) { queues.publish(topic, bytes) }

  /// See ``Broker``.
  public func follow(_ topic: String) { queues.follow(topic) }

  /// See ``Broker``.
  public func leave(_ topic: String) { queues.leave(topic) }

  /// See ``ServerBroker``.
  public func takeNews() -> [BrokerNews] { queues.takeNews() }

  /// See ``ServerBroker``.
  public var state: BrokerState { queues.brokerState }

  /// See ``ServerBroker``.
  public func stop() { queues.stop() }

  /// The work of the thread.
  private struct Worker {
    private let address: NATSAddress
    private let frame: HintFrame
    private let queues: HintQueues
    private let log: any LogSink
    private let prefix: String
    private let ownSubject: String
    /// Whether the log has been told of a failure since hints arrived last.
    private var hasComplained = false

    init(address: NATSAddress, frame: HintFrame, queues: HintQueues, _ log: any LogSink) {
      self.address = address
      self.frame = frame
      self.queues = queues
      self.log = log
      prefix = "parley.\(frame.cluster)."
      ownSubject = "parley.\(frame.cluster).node.\(frame.node.hexadecimal)"
    }

    mutating func run() {
      var pause = Pause()
      while !queues.isStopping {
        do throws(NATSConnection.Failure) {
          try work(&pause)
        } catch {
          wentDown(error.reason)
          queues.wait(atMostMilliseconds: pause.next())
        }
      }
    }

    private mutating func work(_ pause: inout Pause) throws(NATSConnection.Failure) {
      let (frame, queues, ownSubject) = (frame, queues, ownSubject)
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
        if now - probedAt >= NATSBroker.probeInterval {
          probedAt = now
          // What was sent into a line that is gone would come all at once when it is back.
          if connection.isConnected { try connection.publish(ownSubject, frame.probe(sentAt: now)) }
        }
        let hints = queues.takeOutgoing()
        if connection.isConnected {
          for hint in hints {
            try connection.publish(
              "\(prefix)\(queues.channel(of: hint.topic))",
              frame.encoded(topic: hint.topic, hint.bytes))
          }
          let count = hints.count
          if count > 0 { queues.count { $0.published += count } }
        } else if !hints.isEmpty {
          let count = hints.count
          queues.count { $0.dropped["unconnected", default: 0] += count }
        }
        let silence = queues.silence
        if !connection.isConnected || silence ?? (now - began) >= NATSBroker.silenceMax {
          wentDown("no server answers")
        } else if silence != nil {
          pause = Pause()
          cameUp()
        }
        queues.awaitWork(
          atMostMilliseconds: max(1, (probedAt + NATSBroker.probeInterval - now) / 1_000))
      }
    }

    private mutating func cameUp() {
      queues.hintsChanged(arrive: true)
      guard hasComplained else { return }
      hasComplained = false
      log.write(.notice, "hints between nodes arrive again", [("broker", address.description)])
    }

    private mutating func wentDown(_ reason: String) {
      queues.hintsChanged(arrive: false)
      guard !hasComplained else { return }
      hasComplained = true
      log.write(
        .warning, "no hints between nodes; the store is looked at instead",
        [("broker", address.description), ("reason", reason)])
    }
  }
}
