import ParleyGatewayPorts
import OTCore
import SocketMessages
import ParleyWebSocketFrames

/// The delivery of durable changes to the followers of documents.
///
/// Each subscription is a cursor into the log. One that keeps up receives each commit as a frame
/// shared by all, even while the loop writes a long frame to many followers in slices. One whose
/// socket is full receives nothing until it has drained, then the next range of the log in one
/// frame. Operations are not composed: transforming over a composition has another result.
final class DocumentDelivery: Part {
  let board: Switchboard
  let people: DocumentPeople
  /// Connections with lagging subscriptions, which catch up after they have drained.
  private var lagging: Set<ConnectionID> = []
  /// The arrival times, in microseconds, of changes whose frames are being handed out.
  private var broadcasting: [Int64] = []

  init(_ board: Switchboard, _ people: DocumentPeople) {
    self.board = board
    self.people = people
  }

  /// The number of connections with lagging subscriptions.
  var laggingCount: Int { lagging.count }

  /// Whether a connection has lagging subscriptions.
  func isLagging(_ id: ConnectionID) -> Bool { lagging.contains(id) }

  /// Marks a subscription as lagging; it catches up after its connection has drained.
  func lag(_ subscription: Subscription) {
    subscription.isLagging = true
    lagging.insert(subscription.connection.id)
  }

  /// Handles a connection whose queue has drained.
  func drained(_ connection: Connection) {
    if lagging.contains(connection.id) { catchUp(connection) }
  }

  /// Discards the state of a connection that ends.
  func forget(_ connection: Connection) { lagging.remove(connection.id) }

  /// Catches up lagging connections that have drained.
  func catchUpDrained() {
    for id in lagging.sorted() where dependencies.queuedBytes(id) == 0 {
      if let connection = connections[id] { catchUp(connection) }
    }
  }

  /// Begins to measure changes, from their arrival until their frames are handed out.
  func measure(_ changes: ArraySlice<UncommittedChanges.Change>) {
    broadcasting += changes.lazy.map(\.arrival)
  }

  /// Records the latency of measured changes, whose frames have been handed out.
  func countBroadcasts() {
    guard !broadcasting.isEmpty else { return }
    let now = dependencies.clock.microseconds
    for arrival in broadcasting { metrics.broadcast.record(now - arrival) }
    broadcasting.removeAll(keepingCapacity: true)
  }

  /// Sends newly durable entries to the followers that have all earlier entries.
  func deliver(_ entries: ArraySlice<LogEntry>, in room: DocumentRoom) {
    guard var delivery = Delivery(entries) else { return }
    if let other = room.subscriptions.first(where: {
      $0.connection.dialect.traits.wantsFramePerEntry
    }) {
      // Encode now: the authors' message ids are discarded on delivery.
      delivery.sharedByEntry = other.connection.dialect.frames(entries, in: room)
    }
    // The sockets' queues do not change during this call, so one check covers all of them.
    let noneLags = board.allHaveRoom(upTo: settings.laggingBytes)
    // Native authors come first: they may send the next change while the others receive this one.
    for entry in entries {
      guard let id = connectionsByClient[entry.client],
        let subscription = connections[id]?.subscriptions[room.id]
      else { continue }
      deliver(&delivery, to: subscription, noneLags: noneLags)
    }
    var selecting: [Subscription] = []
    for subscription in room.subscriptions {
      deliver(&delivery, to: subscription, noneLags: noneLags)
      if !subscription.selections.isEmpty { selecting.append(subscription) }
    }
    if !selecting.isEmpty {
      for entry in entries { Carets.move(selecting, over: entry) }
    }
    people.moveCaretsElsewhere(over: entries, in: room)
  }

  /// Sends the entries to a follower that has exactly the entries before them.
  ///
  /// - Parameter noneLags: Whether no socket is behind; then this follower's socket is not checked.
  private func deliver(
    _ delivery: inout Delivery, to subscription: Subscription, noneLags: Bool
  ) {
    // A lagging follower catches up separately. Any other follower with another revision has these
    // entries already.
    guard subscription.revision == delivery.revisions.lowerBound - 1, !subscription.isLagging,
      subscription.verbs.contains(.read)
    else { return }
    let connection = subscription.connection
    guard noneLags || board.keepsUp(connection.id) else {
      metrics.lags += 1
      lag(subscription)
      return
    }
    subscription.revision = delivery.revisions.upperBound
    connection.dialect.deliver(&delivery, to: subscription, on: connection)
  }

  /// Catches up the lagging subscriptions of a connection that has drained.
  private func catchUp(_ connection: Connection) {
    for subscription in connection.subscriptions.values
    where subscription.isLagging && subscription.verbs.contains(.read) {
      guard subscription.catchUpRead == nil, let live = subscription.room.live else { continue }
      let behind = live.durableRevision - subscription.revision
      if subscription.revision >= live.oldestBase {
        send(live.durableEntries(after: subscription.revision), to: subscription)
      } else if behind <= settings.lagRevisionsMax {
        let through = min(live.oldestBase, subscription.revision + settings.windowEntries)
        subscription.catchUpRead = store(
          .entries(
            id: live.id, after: subscription.revision, through: through,
            bytesMax: settings.catchUpBytes),
          under: .housekeeping, then: .catchUp(live.id, connection.id))
      } else {
        resync(subscription, reason: .lagging, messageID: pushID())
      }
      finishCatchUp(subscription)
    }
    if !connection.subscriptions.values.contains(where: \.isLagging) {
      lagging.remove(connection.id)
    }
  }

  /// Handles entries that were read for a lagging subscription.
  func readForCatchUp(
    _ id: DocumentID, _ connectionID: ConnectionID, _ outcome: StoreOutcome<[LogEntry]>,
    _ ticket: StoreTicket
  ) {
    // The read runs beside the commits: the note may have been deleted and created again.
    guard let connection = connections[connectionID],
      let subscription = connection.subscriptions[id], subscription.catchUpRead == ticket
    else { return }
    subscription.catchUpRead = nil
    if case .failure(let error) = outcome { logUnread(error) }
    switch outcome {
    case .success(let entries) where entries.first?.revision == subscription.revision + 1:
      send(entries[...], to: subscription)
      finishCatchUp(subscription)
    case .success, .failure:
      resync(subscription, reason: .lagging, messageID: pushID())
      finishCatchUp(subscription)
    }
    if !connection.subscriptions.values.contains(where: \.isLagging) {
      lagging.remove(connection.id)
    }
  }

  private func finishCatchUp(_ subscription: Subscription) {
    guard subscription.isLagging, let live = subscription.room.live,
      subscription.revision == live.durableRevision
    else { return }
    subscription.isLagging = false
    let own = subscription.connection.client
    for person in subscription.room.people.presence.announced where person.clientID != own {
      guard !people.selections(of: person.clientID, in: subscription.room).isEmpty else { continue }
      people.sendSelections(of: person.clientID, to: subscription)
    }
  }

  /// Sends the first of these entries, as many as fit in one frame.
  func send(_ entries: ArraySlice<LogEntry>, to subscription: Subscription) {
    let range = entries.fitting(settings.catchUpBytes, formats: subscription.formats)
    guard let last = range.last else { return }
    subscription.connection.dialect.send(range, to: subscription)
    subscription.revision = last.revision
  }

  /// Sends a follower the whole text.
  func resync(_ subscription: Subscription, reason: ServerMessage.ResyncReason, messageID: String) {
    guard let live = subscription.room.live else { return }
    let connection = subscription.connection
    guard live.pendingRevision(of: connection.client) == nil else {
      // The follower's own change is being committed. The text must include it: after a resync, the
      // client's rebased change would differ from the log's entry.
      return lag(subscription)
    }
    connection.dialect.resync(subscription, live, reason: reason, messageID: messageID)
  }
}
