import ParleyGatewayPorts
import ParleyJSON
import ParleyMail

/// A message that waits in the store until the mail server has taken it.
///
/// The message is stored as bytes, so each attempt sends the same message with the same Message-ID.
struct QueuedMail: Sendable, Equatable {
  /// The id, unique for each message.
  let id: String
  /// The recipient's address.
  let recipient: String
  /// The whole message, in ASCII.
  let message: String
  /// The time after which the message is of no use, such as the end of a link.
  let expiresAt: Timestamp?
  /// The number of attempts that the mail server has postponed.
  var attempts = 0

  /// Creates a message that was not tried yet.
  ///
  /// - Throws: If the message cannot be built.
  init(_ message: MailMessage, expiresAt: Timestamp?) throws(MailError) {
    id = message.id
    recipient = message.to.address
    self.message = String(decoding: try message.bytes(), as: UTF8.self)
    self.expiresAt = expiresAt
  }

  /// Reads a message from the queue; `nil` for other data.
  init?(_ event: OutboxEvent) {
    guard let fields = JSONFields(event.data), let message = fields["message"]?.string,
      let attempts = fields["attempts"]?.integer, let recipient = fields["to"]?.string,
      (try? MailAddress(recipient)) != nil
    else { return nil }
    id = event.type
    self.recipient = recipient
    self.message = message
    self.attempts = attempts
    expiresAt = fields["expiresAt"]?.integer.map { Timestamp($0) }
  }

  /// Returns the event of the queue, with a delay that counts from the time of the event.
  func draft(at time: Timestamp, hold: Timestamp = 0) -> OutboxDraft {
    let data = JSONWriter.object { object, data in
      object.field("to", recipient, &data)
      object.field("attempts", attempts, &data)
      object.field("expiresAt", expiresAt.map { Int($0) }, &data)
      object.field("message", message, &data)
    }
    return OutboxDraft(
      // Messages to one mailbox count together, however it is written.
      target: .mail, type: id, subject: recipient.lowercased(), time: time, data: data,
      holdMilliseconds: hold)
  }

  /// Whether the message is of no use any more.
  func isExpired(at now: Timestamp) -> Bool { expiresAt.map { $0 <= now } ?? false }
}

extension OutboxEvent {
  /// The event as a dead letter stores it: without the message, which may contain a valid link.
  var withoutMessage: OutboxEvent {
    var event = self
    event.data = Array("{}".utf8)
    return event
  }
}
