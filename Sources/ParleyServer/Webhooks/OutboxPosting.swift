import Gateway
import ParleyGatewayPorts

/// Passes events that no store commit causes from the gateway to the outbox.
final class OutboxPosting: PushHandler, RoomObserver {
  private let recorder: WebhookRecorder
  private let store: StoreThread

  init(_ recorder: WebhookRecorder, store: StoreThread) {
    self.recorder = recorder
    self.store = store
  }

  private var now: Timestamp { SystemClock().now }

  /// Queues a push notification for a user who is offline.
  func notify(_ notification: PushNotification) { store.tell([recorder.push(notification)]) }

  func occupied(_ room: RoomName) {
    store.tell(recorder.occupancy(of: room, isOccupied: true, at: now))
  }

  func vacated(_ room: RoomName) {
    store.tell(recorder.occupancy(of: room, isOccupied: false, at: now))
  }

  func changed(_ presence: PresenceChange) { store.tell(recorder.presence(presence, at: now)) }
}
