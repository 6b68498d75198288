/// Events for external services, stored until they are delivered.
///
///     commit: a change + an event about it ─▶ outbox ─▶ take ─▶ delivered ─▶ settle
///
/// An event about a change of the store is written in the same commit as the change, so neither
/// exists without the other. An event that was not settled is taken again, also after a restart:
/// delivery is at least once, with the same id each time.

/// A service that receives events. Each target has its own queue: a slow service delays no other.
public enum OutboxTarget: Int, Sendable, CaseIterable {
  /// An app's backend.
  case webhook = 1
  /// A service that sends push notifications to users who are offline.
  case push
  /// A service that tracks which rooms are in use.
  case rooms
  /// This server itself: publications whose offline followers are still to be notified.
  case followers
  /// A mail server. The subject of an event is the recipient, its type the message's id. A message
  /// that the server does not take yet is delayed, so that it does not hold up others.
  case mail
}

/// An event to be added to the queue of a target.
public struct OutboxDraft: Sendable, Equatable {
  /// The target whose queue the event is added to.
  public var target: OutboxTarget
  /// The event's type, such as `note.deleted`.
  public var type: String
  /// The event's subject: a note's id or a room's name.
  public var subject: String
  /// The time at which the event happened.
  public var time: Timestamp
  /// The event's payload, in JSON.
  public var data: [UInt8]
  /// Milliseconds by which delivery is delayed. A later event of the same type and subject replaces
  /// a delayed one and keeps its due time.
  public var holdMilliseconds: Timestamp
  /// Whether delayed events about the subject are released first, before this event.
  public var releasesHeld: Bool

  /// Creates a draft, by default of an event without a delay.
  public init(
    target: OutboxTarget, type: String, subject: String, time: Timestamp, data: [UInt8],
    holdMilliseconds: Timestamp = 0, releasesHeld: Bool = false
  ) {
    self.target = target
    self.type = type
    self.subject = subject
    self.time = time
    self.data = data
    self.holdMilliseconds = holdMilliseconds
    self.releasesHeld = releasesHeld
  }
}

/// An event that waits for delivery.
public struct OutboxEvent: Sendable, Equatable {
  /// The event's number in the queue of its target, ascending.
  public var number: Int
  /// The event's permanent id, by which the target can detect a repeated delivery.
  public var id: String
  /// The target whose queue contains the event.
  public var target: OutboxTarget
  /// The event's type, such as `note.deleted`.
  public var type: String
  /// The event's subject: a note's id or a room's name.
  public var subject: String
  /// The time at which the event happened.
  public var time: Timestamp
  /// The event's payload, in JSON.
  public var data: [UInt8]

  /// Creates an event that is stored under a number and an id.
  public init(
    number: Int, id: String, target: OutboxTarget, type: String, subject: String,
    time: Timestamp, data: [UInt8]
  ) {
    self.number = number
    self.id = id
    self.target = target
    self.type = type
    self.subject = subject
    self.time = time
    self.data = data
  }
}

/// An event whose delivery was given up.
public struct DeadLetter: Sendable, Equatable {
  /// The event that was not delivered.
  public var event: OutboxEvent
  /// The time at which delivery was given up.
  public var time: Timestamp
  /// The reason for giving up.
  public var reason: Reason

  /// The reason for giving up an event.
  public enum Reason: Int, Sendable {
    /// The event was not delivered within its time limit.
    case tooOld = 1
    /// The target rejects events permanently.
    case unwanted
    /// The queue was full, and the event was the oldest.
    case queueFull
  }

  /// Creates a dead letter for an event that was given up at a time.
  public init(event: OutboxEvent, time: Timestamp, reason: Reason) {
    self.event = event
    self.time = time
    self.reason = reason
  }
}

/// The state of one target's queue.
public struct OutboxQueueState: Sendable, Equatable {
  /// The number of queued events.
  public var queued: Int
  /// The time of the oldest queued event.
  public var oldest: Timestamp?
  /// The time at which the next delayed event is due.
  public var nextDue: Timestamp?
  /// The number of stored dead letters.
  public var deadLetters: Int
  /// Events that became dead letters because the queue was full, since the store was opened; for
  /// mail, messages that were not added.
  public var overflowed: Int

  /// Creates a state, by default of an empty queue.
  public init(
    queued: Int = 0, oldest: Timestamp? = nil, nextDue: Timestamp? = nil, deadLetters: Int = 0,
    overflowed: Int = 0
  ) {
    self.overflowed = overflowed
    self.queued = queued
    self.oldest = oldest
    self.nextDue = nextDue
    self.deadLetters = deadLetters
  }
}

/// Creates events about changes in a store.
public protocol OutboxRecorder: Sendable {
  /// Returns the events that a request with this reply causes; an empty list for most requests.
  func drafts(for request: StoreRequest, _ reply: StoreReply) -> [OutboxDraft]
}

/// The rules of an outbox: the events that it records, and its limits.
public struct OutboxRules: Sendable {
  /// Creates the events.
  public var recorder: any OutboxRecorder
  /// Maximum events in the queue of a target. Beyond it, the oldest become dead letters.
  public var queuedMax: Int
  /// Maximum stored dead letters. Beyond it, the oldest are deleted.
  public var deadLettersMax: Int
  /// Maximum waiting messages of mail, including delayed ones. Beyond it, new ones are not added, so
  /// that requests of strangers do not push out messages that wait.
  public var mailMax: Int
  /// Maximum waiting messages of one recipient; the same applies beyond it.
  public var mailMaxOfRecipient: Int

  /// Creates rules with limits.
  public init(
    recorder: any OutboxRecorder, queuedMax: Int = 10_000, deadLettersMax: Int = 1_000,
    mailMax: Int = 1_000, mailMaxOfRecipient: Int = 10
  ) {
    self.recorder = recorder
    self.queuedMax = queuedMax
    self.deadLettersMax = deadLettersMax
    self.mailMax = mailMax
    self.mailMaxOfRecipient = mailMaxOfRecipient
  }
}

/// A request to an outbox. Each request is one commit.
public enum OutboxRequest: Sendable {
  /// Reads the oldest events of a target's queue: at most `limit`, with at most `bytesMax` bytes of
  /// data in total unless the first event alone exceeds that. Includes delayed events that are due.
  case take(OutboxTarget, limit: Int, bytesMax: Int, now: Timestamp)
  /// Settles events in one commit: removes `delivered`, moves `givenUp` to the dead letters, and
  /// adds `adding`. Events in `givenUp` that are no longer queued are ignored.
  ///
  /// If an event of `delivered` is no longer queued, another gateway has delivered and settled it.
  /// Then `delivered` and `adding` are ignored, so that no draft is added twice, and events that
  /// are still queued will be taken again.
  case settle(
    delivered: [OutboxEvent], givenUp: [OutboxEvent], DeadLetter.Reason, now: Timestamp,
    adding: [OutboxDraft])
  /// Lists at most `limit` dead letters, the newest first.
  case deadLetters(limit: Int)
}

/// The reply to a request to the outbox.
public enum OutboxReply: Sendable, Equatable {
  /// The request succeeded, without a result.
  case done
  /// Events in the order of the queue.
  case events([OutboxEvent])
  /// The dead letters.
  case deadLetters([DeadLetter])
  /// The request failed.
  case failed(StoreError)
}

/// A document store that contains an outbox. Both are used on the same thread.
public protocol Outbox: DocumentStore {
  /// The rules for recording events. With `nil`, no events are recorded; queued events remain.
  var outboxRules: OutboxRules? { get set }

  /// Performs a request, and returns after its changes are durable.
  func perform(_ request: OutboxRequest) -> OutboxReply

  /// Returns the states of queues that may have changed since the last call; at first, all states.
  func takeOutboxChanges() -> [OutboxTarget: OutboxQueueState]
}
