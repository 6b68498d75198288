import ParleyBrokerQueues
public import ParleyGatewayPorts
import Glibc
import ParleyHashing

/// Hints between nodes by PostgreSQL's `LISTEN` and `NOTIFY`, on a separate connection.
///
/// Hints are not sent in the transactions that append entries: committing a notification takes a
/// server-wide lock, so appends would wait for each other. The commits of this connection are
/// asynchronous.
///
///     loop ─▶ queue ─▶ thread ─▶ NOTIFY parley_CLUSTER_CHANNEL, up to 256 in one statement
///     loop ◀─ queue ◀─ thread ◀─ what other nodes have sent
///
/// Each second the thread sends itself a probe. If none arrives for some seconds, or the connection
/// breaks, hints count as not arriving, and the thread reconnects with increasing delays.
public enum PostgresBroker {
  /// The number of channels to which topics are assigned. A node receives all hints of a channel.
  private static let channelCount = 64
  /// The maximum hints in one statement.
  private static let batchMax = 256
  /// Microseconds between probes.
  private static let probeInterval: Int64 = 1_000_000
  /// Microseconds without a received probe after which the connection counts as broken.
  private static let silenceMax: Int64 = 4_000_000

  /// Starts a thread that connects, and returns immediately.
  ///
  /// - Parameters:
  ///   - address: The database, without a pooler that shares connections between clients.
  ///   - secret: A secret that all nodes of the cluster share.
  ///   - log: Receives a line when a connection is established or lost.
  ///   - wake: Called when hints can be taken.
  public static func start(
    _ address: PostgresAddress, secret: [UInt8], log: any LogSink,
    wake: @escaping @Sendable () -> Void
  ) -> any ServerBroker {
    let queues = HintQueues(channelCount: channelCount, wakeLoop: wake)
    let worker = Worker(address: address, frame: HintFrame(secret: secret), queues: queues)
    BrokerThread.start(queues, worker.frame, address: address.description, log: log) {
      thread throws(BrokerFailure) in try worker.listen(&thread)
    }
    return queues
  }

  /// The state of the thread.
  private struct Worker {
    let address: PostgresAddress
    let frame: HintFrame
    let queues: HintQueues

    private var prefix: String { "parley_\(frame.cluster)_" }
    private var ownChannel: String { "\(prefix)node_\(frame.node.hexadecimal)" }

    /// Sends and receives hints until the connection breaks or the broker is stopped.
    func listen(_ thread: inout BrokerThread) throws(BrokerFailure) {
      let ownChannel = ownChannel
      let connection = try HintConnection(address)
      var listening: Set<Int> = []
      // Do not wait for synchronous replication of the server either.
      try connection.send("SET synchronous_commit = off; LISTEN \(ownChannel)")
      var heardAt = monotonicMicroseconds()
      var probedAt: Int64 = 0
      var isUp = false
      var outgoing: [HintQueues.Hint] = []
      while !queues.isStopping {
        let now = monotonicMicroseconds()
        guard now - heardAt < PostgresBroker.silenceMax else {
          throw .init(reason: "its own messages did not arrive for some seconds")
        }
        if !connection.isBusy {
          let wanted = queues.channels
          if wanted != listening {
            let more = wanted.subtracting(listening).sorted().map { "LISTEN \(prefix)\($0)" }
            let fewer = listening.subtracting(wanted).sorted().map { "UNLISTEN \(prefix)\($0)" }
            try connection.send((more + fewer).joined(separator: "; "))
            listening = wanted
          } else {
            if outgoing.isEmpty { outgoing = queues.takeOutgoing() }
            let isDue = now - probedAt >= PostgresBroker.probeInterval
            if isDue { probedAt = now }
            try send(&outgoing, probe: isDue ? now : nil, connection)
          }
        }
        let untilProbe = max(0, probedAt + PostgresBroker.probeInterval - now) / 1_000 + 1
        try connection.wait(or: queues.waker, atMostMilliseconds: untilProbe)
        queues.haveWoken()
        while let notification = connection.next() {
          guard notification.channel == ownChannel else {
            read(notification)
            continue
          }
          guard
            let sentAt = Base64.standard.decode(notification.payload).flatMap(
              frame.sentAt(ofProbe:))
          else {
            queues.count { $0.foreign += 1 }
            continue
          }
          guard queues.heardItself(sentAt: sentAt) else { continue }
          heardAt = monotonicMicroseconds()
          guard !isUp else { continue }
          isUp = true
          thread.cameUp()
        }
      }
    }

    private func send(
      _ hints: inout [HintQueues.Hint], probe: Int64?, _ connection: HintConnection
    ) throws(BrokerFailure) {
      var notifications: [(channel: String, payload: String)] = []
      if let probe {
        notifications.append((ownChannel, Base64.standard.encode(frame.probe(sentAt: probe))))
      }
      let sent = hints.prefix(PostgresBroker.batchMax)
      for hint in sent {
        notifications.append(
          (
            "\(prefix)\(queues.channel(of: hint.topic))",
            Base64.standard.encode(frame.encoded(topic: hint.topic, hint.bytes))
          ))
      }
      guard !notifications.isEmpty else { return }
      hints.removeFirst(sent.count)
      try connection.notify(notifications)
      let count = sent.count
      queues.count { $0.published += count }
    }

    private func read(_ notification: HintConnection.Notification) {
      guard let bytes = Base64.standard.decode(notification.payload),
        let content = frame.decoded(bytes)
      else {
        queues.count { $0.foreign += 1 }
        return
      }
      guard content.node != frame.node else { return }
      queues.hear(content.topic, content.bytes)
    }
  }
}
