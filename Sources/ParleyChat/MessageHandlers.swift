public import ParleyClient
import ParleyClientCore
import SocketMessages

/// A report that a message has reached a stage with a person.
public struct MessageReceipt: Sendable, Hashable {
  /// The message, sent by the person who receives this report.
  public let message: ChatMessage.ID
  /// The person who received or read the message.
  public let person: ChatPerson.ID
  /// The stage that the message has reached.
  public let stage: ChatMessage.Stage

  /// Creates a receipt.
  public init(message: ChatMessage.ID, person: ChatPerson.ID, stage: ChatMessage.Stage) {
    self.message = message
    self.person = person
    self.stage = stage
  }
}

/// An update of receipts.
public enum ReceiptUpdate: Sendable, Hashable {
  /// A message has reached a stage.
  case receipt(MessageReceipt)
  /// Receipts may have been missed, because the connection was lost or the loop was too slow.
  /// Request the receipts of the shown messages.
  case missed
}

/// Receipts for messages.
@MainActor public protocol ReceiptHandler: Sendable {
  /// Confirms that a message has reached a stage with this person. The confirmation is sent when
  /// the server is reachable. Stages only advance: after `read`, `delivered` has no effect. Maximum
  /// waiting confirmations in a thread: 256; beyond it, the oldest is dropped.
  ///
  /// - Throws: `otherHistory` if the thread has a new history on the server, without the message.
  func confirm(
    _ stage: ChatMessage.Stage, of message: ChatMessage.ID
  ) throws(RequestError)

  /// Returns the people who have received or read a message that this person sent.
  func receipts(
    of message: ChatMessage.ID
  ) async throws(RequestError) -> [ChatPerson.ID: ChatMessage.Stage]

  /// Returns receipts of this person's messages in a thread, from now on. At most 1,000 are
  /// buffered; beyond it, the older half is replaced by one `missed`.
  func receipts(in thread: ChatThread) -> AsyncStream<ReceiptUpdate>
}

/// A report of a message to the moderators.
public struct MessageReport: Sendable, Hashable {
  /// The message.
  public let message: ChatMessage.ID
  /// The person who reports it.
  public let person: ChatPerson.ID
  /// The reason, if one was given.
  public let reason: String?
  /// Whether the report is open; `false` if it was withdrawn.
  public let isOpen: Bool

  /// Creates a report.
  public init(
    message: ChatMessage.ID, person: ChatPerson.ID, reason: String?, isOpen: Bool = true
  ) {
    self.message = message
    self.person = person
    self.reason = reason
    self.isOpen = isOpen
  }
}

/// An update of reports.
public enum ReportUpdate: Sendable, Hashable {
  /// A report was made or withdrawn.
  case report(MessageReport)
  /// Reports may have been missed, because the connection was lost or the loop was too slow.
  /// Request all of them.
  case missed
}

/// Reports of messages to the moderators.
@MainActor public protocol ModerationHandler: Sendable {
  /// Reports a message.
  func report(_ message: ChatMessage.ID, because reason: String?) async throws(RequestError)

  /// Withdraws a report.
  func withdrawReport(of message: ChatMessage.ID) async throws(RequestError)

  /// Returns the reports in a thread, the newest message's first. Only moderators, whose tokens
  /// grant `manage`, may call it; others get `notAllowed`.
  func reports(in thread: ChatThread) async throws(RequestError) -> [MessageReport]

  /// Returns reports in a thread from now on, for moderators. At most 1,000 are buffered; beyond
  /// it, the older half is replaced by one `missed`.
  func newReports(in thread: ChatThread) -> AsyncStream<ReportUpdate>
}

/// Push notifications of threads.
@MainActor public protocol PushHandler: Sendable {
  /// Requests push notifications of a thread while offline, from the operator's push service. The
  /// person becomes a follower of the thread.
  func follow(_ thread: ChatThread) async throws(RequestError)

  /// Ends push notifications of a thread.
  func unfollow(_ thread: ChatThread) async throws(RequestError)
}

/// The limit of streams of receipts and reports.
private enum News {
  static let bound = 1_000

  /// Replaces the older half by `missed`.
  static func shorten<Element>(_ waiting: ArraySlice<Element>, missed: Element) -> [Element] {
    [missed] + waiting.dropFirst(waiting.count / 2 + 1)
  }
}

struct GatewayReceipts: ReceiptHandler {
  let parley: Parley

  func confirm(
    _ stage: ChatMessage.Stage, of message: ChatMessage.ID
  ) throws(RequestError) {
    try parley.check(message)
    parley.confirm(
      message.position.offset, stage == .read ? .read : .delivered, inRoom: message.thread.name)
  }

  func receipts(
    of message: ChatMessage.ID
  ) async throws(RequestError) -> [ChatPerson.ID: ChatMessage.Stage] {
    try parley.check(message)
    let request = ClientMessage.Receipts(
      room: message.thread.name, offset: message.position.offset)
    let reply = try await parley.ask(.receipts(request), \.receipts)
    var stages: [ChatPerson.ID: ChatMessage.Stage] = [:]
    for receipt in reply.receipts {
      stages[ChatPerson.ID(receipt.personID.text)] = ChatMessage.Stage(receipt.stage)
    }
    return stages
  }

  func receipts(in thread: ChatThread) -> AsyncStream<ReceiptUpdate> {
    RoomFollower<ReceiptUpdate>(
      parley.share(room: thread.name), bound: News.bound,
      shorten: { News.shorten($0, missed: .missed) }
    ) { step in
      if step.isReturn { return .missed }
      guard case .receipt(let receipt) = step.action, let position = step.room.position else {
        return nil
      }
      return .receipt(
        MessageReceipt(
          message: .init(thread, position.epoch, receipt.offset),
          person: ChatPerson.ID(receipt.personID), stage: ChatMessage.Stage(receipt.state)))
    }.stream
  }
}

struct GatewayModeration: ModerationHandler {
  let parley: Parley

  func report(_ message: ChatMessage.ID, because reason: String?) async throws(RequestError) {
    try await flag(message, true, reason)
  }

  func withdrawReport(of message: ChatMessage.ID) async throws(RequestError) {
    try await flag(message, false, nil)
  }

  private func flag(
    _ message: ChatMessage.ID, _ isFlagged: Bool, _ reason: String?
  ) async throws(RequestError) {
    try parley.check(message)
    _ = try await parley.ask(
      .flag(
        .init(
          room: message.thread.name, offset: message.position.offset, isFlagged: isFlagged,
          reason: reason)), \.flag)
  }

  func reports(in thread: ChatThread) async throws(RequestError) -> [MessageReport] {
    // The reply has offsets but no epoch, so a page of the room's history is requested for it.
    let head = ClientMessage.RoomHistory(room: thread.name, limit: 1)
    let page = try await parley.ask(.history(head), \.history)
    let reply = try await parley.ask(.flags(.init(room: thread.name)), \.flags)
    return reply.flags.map { flag in
      MessageReport(
        message: .init(thread, page.position.epoch.text, flag.offset),
        person: ChatPerson.ID(flag.personID.text), reason: flag.reason, isOpen: true)
    }
  }

  func newReports(in thread: ChatThread) -> AsyncStream<ReportUpdate> {
    RoomFollower<ReportUpdate>(
      parley.share(room: thread.name), bound: News.bound,
      shorten: { News.shorten($0, missed: .missed) }
    ) { step in
      if step.isReturn { return .missed }
      guard case .flagged(let flag) = step.action, let position = step.room.position else {
        return nil
      }
      return .report(
        MessageReport(
          message: .init(thread, position.epoch, flag.offset),
          person: ChatPerson.ID(flag.personID), reason: flag.reason, isOpen: flag.isFlagged))
    }.stream
  }
}

struct GatewayPush: PushHandler {
  let parley: Parley

  func follow(_ thread: ChatThread) async throws(RequestError) { try await set(thread, true) }

  func unfollow(_ thread: ChatThread) async throws(RequestError) { try await set(thread, false) }

  private func set(_ thread: ChatThread, _ isFollowing: Bool) async throws(RequestError) {
    _ = try await parley.ask(
      .follow(.init(room: thread.name, isFollowing: isFollowing)), \.following)
  }
}

extension ChatMessage.ID {
  init(_ thread: ChatThread, _ epoch: String, _ offset: Int) {
    self.init(thread: thread, position: .init(epoch: epoch, offset: offset))
  }
}

extension ChatMessage.Stage {
  init(_ stage: ReceiptStage) { self = stage == .read ? .read : .delivered }
}

extension Parley {
  /// Throws `otherHistory` if the message is known to belong to a former history of its room.
  func check(_ message: ChatMessage.ID) throws(RequestError) {
    guard let position = position(inRoom: message.thread.name) else { return }
    guard position.epoch.isSame(as: message.position.epoch) else { throw .otherHistory }
  }
}
