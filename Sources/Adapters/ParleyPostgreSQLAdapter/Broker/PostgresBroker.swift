import ParleyBrokerQueues
public import ParleyGatewayPorts
import Glibc
import ParleyHashing

/// Hints between nodes by PostgreSQL's `LISTEN` and `NOTIFY`, on a connection of its own.
///
/// Nothing here is part of a transaction that appends: a notification is committed under a lock of the
/// whole server's, which would have appends wait for each other. This connection's commits wait for no
/// disk.
///
///     loop ─▶ queue ─▶ thread ─▶ NOTIFY parley_CLUSTER_CHANNEL, so many in one statement
///     loop ◀─ queue ◀─ thread ◀─ what other nodes have sent
///
/// Each second the thread sends itself a message. When none has come for some seconds, or the
/// connection breaks, hints count as not arriving, and the thread reconnects, with pauses that
/// grow.
public enum PostgresBroker {
  /// Channels that topics are dealt out to. A node hears all of a channel's hints.
  private static let channelCount = 64
  /// Notifications in one statement.
  private static let batchMax = 256
  /// Microseconds between messages to oneself.
  private static let probeInterval: Int64 = 1_000_000
  /// Microseconds after which a message to oneself counts as lost.
  private static let silenceMax: Int64 = 4_000_000

  /// Begins to connect, on a thread of its own, and returns at once.
  ///
  /// - Parameters:
  ///   - address: The database. Behind a pooler that deals out connections nothing would arrive.
  ///   - secret: Bytes that all nodes of the cluster have.
  /// - log: Receives a line for each connection made and lost.
  ///   - wake: Called when there are news to be taken.
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

  /// The work of the thread.
  private struct Worker {
    let address: PostgresAddress
    let frame: HintFrame
    let queues: HintQueues

    private var prefix: String { "parley_\(frame.cluster)_" }
    private var ownChannel: String { "\(prefix)node_\(frame.node.hexadecimal)" }

    /// Sends and hears until the connection breaks, or it is time to end.
    func listen(_ thread: inout BrokerThread) throws(BrokerFailure) {
      let ownChannel = ownChannel
      let connection = try HintConnection(address)
      var listening: Set<Int> = []
      // Even a server that waits for other machines' disks does not wait here.
      try connection.send("SET synchronous_commit = off; LISTEN \(ownChannel)")
      var heardAt = monotonicMicroseconds()
      var probedAt: Int64 = 0
      var isUp = false
      var outgoing: [HintQueues.Hint] = []
      while !queues.isStopping {
        let now = monotonicMicroseconds()
        guard now - heardAt < PostgresBroker.silenceMax else {
          throw .init(reason: "its own messages did not come for some seconds")
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
