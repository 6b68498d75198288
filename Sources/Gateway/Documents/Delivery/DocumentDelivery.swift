import ParleyGatewayPorts
import OTCore
import SocketMessages
import ParleyWebSocketFrames

/// The delivery of durable changes to the followers of documents.
///
/// Every subscription is a cursor into the log. One that keeps up gets each commit as a frame shared by
/// all, also while the loop writes a long one to a crowd in slices. One whose socket is full gets nothing
/// until it has drained, and then the next range of the log in one frame. Nothing is composed on the way:
/// transforming over a composed operation is not the same as transforming over its parts.
final class DocumentDelivery: Part {
  let board: Switchboard
  let people: DocumentPeople
  /// Connections that are behind, and are given more when they have drained.
  private var lagging: Set<ConnectionID> = []
  /// The arrival times of changes that are on their way to their followers, in microseconds.
  private var broadcasting: [Int64] = []

  init(_ board: Switchboard, _ people: DocumentPeople) {
    self.board = board
    self.people = people
  }

  /// The number of connections that are behind.
  var laggingCount: Int { lagging.count }

  /// Whether a connection is behind.
  func isLagging(_ id: ConnectionID) -> Bool { lagging.contains(id) }

  /// Has a follower catch up when it has drained.
  func lag(_ subscription: Subscription) {
    subscription.isLagging = true
    lagging.insert(subscription.connection.id)
  }

  /// All that was queued for a connection has gone out.
  func drained(_ connection: Connection) {
    if lagging.contains(connection.id) { catchUp(connection) }
  }

  /// A connection follows nothing from now on.
  func forget(_ connection: Connection) { lagging.remove(connection.id) }

  /// Continues connections that were behind and have drained.
  func catchUpDrained() {
    for id in lagging.sorted() where dependencies.queuedBytes(id) == 0 {
      if let connection = connections[id] { catchUp(connection) }
    }
  }

  /// Measures changes from their arrivals until their frames have been handed out.
  func measure(_ changes: ArraySlice<UncommittedChanges.Change>) {
    broadcasting += changes.lazy.map(\.arrival)
  }

  /// The frames for all followers who keep up have been handed out.
  func countBroadcasts() {
    guard !broadcasting.isEmpty else { return }
    let now = dependencies.clock.microseconds
    for arrival in broadcasting { metrics.broadcast.record(now - arrival) }
    broadcasting.removeAll(keepingCapacity: true)
  }

  /// Sends newly durable entries to all followers that have everything before them.
  func deliver(_ entries: ArraySlice<LogEntry>, in room: DocumentRoom) {
    guard var delivery = Delivery(entries) else { return }
    if let other = room.subscriptions.first(where: {
      $0.connection.dialect.traits.wantsFramePerEntry
    }) {
      // Now, for authors' message ids are forgotten on delivery.
      delivery.sharedByEntry = other.connection.dialect.frames(entries, in: room)
    }
    // The sockets' queues do not change meanwhile, so this holds for all of them.
    let isRoomy = board.allHaveRoom(upTo: settings.laggingBytes)
    // Native authors come first: they may send the next change while the others receive this one.
    for entry in entries {
      guard let id = connectionsByClient[entry.client],
        let subscription = connections[id]?.subscriptions[room.id]
      else { continue }
      deliver(&delivery, to: subscription, isRoomy: isRoomy)
    }
    var selecting: [Subscription] = []
    for subscription in room.subscriptions {
      deliver(&delivery, to: subscription, isRoomy: isRoomy)
      if !subscription.selections.isEmpty { selecting.append(subscription) }
    }
    if !selecting.isEmpty {
      for entry in entries { Carets.move(selecting, over: entry) }
    }
    people.moveCaretsElsewhere(over: entries, in: room)
  }

  /// Sends the entries to a follower that has everything before them, and only that.
  ///
  /// - Parameter isRoomy: whether no follower's socket is behind, so that this one need not be asked about.
  private func deliver(
    _ delivery: inout Delivery, to subscription: Subscription, isRoomy: Bool
  ) {
    // One that lags, or that has these entries already, continues on its own.
    guard subscription.revision == delivery.revisions.lowerBound - 1, !subscription.isLagging,
      subscription.verbs.contains(.read)
    else { return }
    let connection = subscription.connection
    guard isRoomy || board.keepsUp(connection.id) else {
      metrics.lags += 1
      lag(subscription)
      return
    }
    subscription.revision = delivery.revisions.upperBound
    connection.dialect.deliver(&delivery, to: subscription, on: connection)
  }

  /// Continues the lagging subscriptions of a connection that has drained.
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

  /// Entries for a lagging subscription have been read from the store.
  func readForCatchUp(
    _ id: DocumentID, _ connectionID: ConnectionID, _ outcome: StoreOutcome<[LogEntry]>,
    _ ticket: StoreTicket
  ) {
    // Read beside the commits: meanwhile the note may have been deleted and made again.
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

  /// Sends the first of these entries, as many as one frame should hold.
  func send(_ entries: ArraySlice<LogEntry>, to subscription: Subscription) {
    let range = entries.fitting(settings.catchUpBytes)
    guard let last = range.last else { return }
    subscription.connection.dialect.send(range, to: subscription)
    subscription.revision = last.revision
  }

  /// Sends a follower the whole text.
  func resync(_ subscription: Subscription, reason: ServerMessage.ResyncReason, messageID: String) {
    guard let live = subscription.room.live else { return }
    let connection = subscription.connection
    guard live.pendingRevision(of: connection.client) == nil else {
      // Its own change is being committed. It learns of that with the text, for a change that comes behind
      // a text is no longer what the client makes of it.
      return lag(subscription)
    }
    connection.dialect.resync(subscription, live, reason: reason, messageID: messageID)
  }
}
