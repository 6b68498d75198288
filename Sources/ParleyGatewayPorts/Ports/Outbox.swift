/// Events for outside services, kept until they are delivered.
///
///     commit: a change + an event about it ─▶ outbox ─▶ take ─▶ delivered ─▶ settle
///
/// An event about a change in the store is written in the same commit as the change, so neither exists
/// without the other. An event that was not settled is taken again, after a restart too: it is delivered at
/// least once, under the same id each time.

/// A service that receives events. Each has a queue of its own, so that none waits for another.
public enum OutboxTarget: Int, Sendable, CaseIterable {
  /// An app's backend.
  case webhook = 1
  /// A service that reaches people who are offline.
  case push
  /// A service that follows which rooms are in use.
  case rooms
  /// This server itself: publications whose followers are still to be notified.
  case followers
}

/// An event to be kept for a receiver.
public struct OutboxDraft: Sendable, Equatable {
  /// The receiver.
  public var target: OutboxTarget
  /// The event's type.
  public var type: String
  /// The event's subject: a note's id or a room's name.
  public var subject: String
  /// The time of the event.
  public var time: Timestamp
  /// The news, in JSON.
  public var data: [UInt8]
  /// Milliseconds for which it is held back. News of the same type about the same subject that come
  /// meanwhile take its place, and are delivered when it would have been.
  public var holdMilliseconds: Timestamp
  /// Whether news about the subject that are held back go before it.
  public var releasesHeld: Bool

  /// Makes a draft.
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
  /// Its place in the queue of its target.
  public var number: Int
  /// Names it for ever, so that its receiver can recognise a second delivery.
  public var id: String
  /// The receiver.
  public var target: OutboxTarget
  /// The event's type.
  public var type: String
  /// The event's subject.
  public var subject: String
  /// The time of the event.
  public var time: Timestamp
  /// The news, in JSON.
  public var data: [UInt8]

  /// Makes an event.
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

/// An event that is no longer delivered.
public struct DeadLetter: Sendable, Equatable {
  /// The event.
  public var event: OutboxEvent
  /// The time at which delivery was given up.
  public var time: Timestamp
  /// Why.
  public var reason: Reason

  /// Why an event was given up.
  public enum Reason: Int, Sendable {
    /// The event was not delivered for too long.
    case tooOld = 1
    /// The receiver has refused further events.
    case unwanted
    /// Too many events waited behind it.
    case crowdedOut
  }

  /// Makes a dead letter.
  public init(event: OutboxEvent, time: Timestamp, reason: Reason) {
    self.event = event
    self.time = time
    self.reason = reason
  }
}

/// The state of one target's queue.
public struct OutboxStanding: Sendable, Equatable {
  /// Events that wait for delivery.
  public var queued: Int
  /// The time of the oldest event.
  public var oldest: Timestamp?
  /// The time at which the next event that is held back is due.
  public var nextDue: Timestamp?
  /// Events given up that are still kept.
  public var deadLetters: Int
  /// Events given up because too many waited, since the store was opened.
  public var crowdedOut: Int

  /// Makes a state.
  public init(
    queued: Int = 0, oldest: Timestamp? = nil, nextDue: Timestamp? = nil, deadLetters: Int = 0,
    crowdedOut: Int = 0
  ) {
    self.crowdedOut = crowdedOut
    self.queued = queued
    self.oldest = oldest
    self.nextDue = nextDue
    self.deadLetters = deadLetters
  }
}

/// Creates events about changes in a store.
public protocol OutboxRecorder: Sendable {
  /// Returns the events that report a request with this reply; mostly none.
  func drafts(for request: StoreRequest, _ reply: StoreReply) -> [OutboxDraft]
}

/// The rules of an outbox: the events it records, and its limits.
public struct OutboxRules: Sendable {
  /// Creates the events.
  public var recorder: any OutboxRecorder
  /// Events that wait for a target, at most: beyond, its oldest become dead letters.
  public var queuedMax: Int
  /// Dead letters, at most: beyond, the oldest are forgotten.
  public var deadLettersMax: Int

  /// Makes rules.
  public init(recorder: any OutboxRecorder, queuedMax: Int = 10_000, deadLettersMax: Int = 1_000) {
    self.recorder = recorder
    self.queuedMax = queuedMax
    self.deadLettersMax = deadLettersMax
  }
}

/// Work with an outbox. Each request is a commit of its own.
public enum OutboxRequest: Sendable {
  /// Reads the oldest events for a target, at most `limit`, and of more than one at most `bytesMax` bytes
  /// of data. Events whose hold has ended are among them.
  case take(OutboxTarget, limit: Int, bytesMax: Int, now: Timestamp)
  /// Finishes events: `delivered` are removed, `givenUp` become dead letters, and `adding` follows from them,
  /// all at once. Events given up that are no longer there are passed over.
  ///
  /// If one of `delivered` is no longer there, another gateway has taken them over and finished them: then
  /// `delivered` and `adding` are passed over, so that what follows is added once. What is left is taken again.
  case settle(
    delivered: [OutboxEvent], givenUp: [OutboxEvent], DeadLetter.Reason, now: Timestamp,
    adding: [OutboxDraft])
  /// Lists the dead letters, the newest first.
  case deadLetters(limit: Int)
}

/// The reply to a request to the outbox.
public enum OutboxReply: Sendable, Equatable {
  /// Done, with nothing to say.
  case done
  /// Events in their order.
  case events([OutboxEvent])
  /// The events that were given up.
  case deadLetters([DeadLetter])
  /// Not done.
  case failed(StoreError)
}

/// An outbox beside documents: the same store, the same thread.
public protocol Outbox: DocumentStore {
  /// The rules for events; with `nil` none is recorded. Events that wait already are kept.
  var outboxRules: OutboxRules? { get set }

  /// Does a piece of work, and returns after it is durable.
  func perform(_ request: OutboxRequest) -> OutboxReply

  /// Returns the state of each queue that may have changed since the last call, and of all at the
  /// first.
  func takeOutboxChanges() -> [OutboxTarget: OutboxStanding]
}
