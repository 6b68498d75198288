import Gateway
import ParleyGatewayPorts

/// Passes events that no store commit causes from the gateway to the outbox.
final class OutboxPosting: PushHandler, RoomObserver {
  private let scribe: WebhookScribe
  private let store: StoreThread

  init(_ scribe: WebhookScribe, store: StoreThread) {
    self.scribe = scribe
    self.store = store
  }

  private var now: Timestamp { SystemClock().now }

  /// Queues a push notification for a user who is offline.
  func notify(_ notification: PushNotification) { store.tell([scribe.push(notification)]) }

  func occupied(_ room: RoomName) {
    store.tell(scribe.occupancy(of: room, isOccupied: true, at: now))
  }

  func vacated(_ room: RoomName) {
    store.tell(scribe.occupancy(of: room, isOccupied: false, at: now))
  }

  func changed(_ presence: PresenceChange) { store.tell(scribe.presence(presence, at: now)) }
}
