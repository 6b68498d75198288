import ParleyJSON
import OTCore

extension ServerMessage {
  /// The message types, by their names on the wire.
  package enum Kind: String, Sendable, CaseIterable {
    case welcome, refreshed, granted, tokenExpiring, accessChanged
    case joined, created, behind, documentHistory, changes, acknowledged, refused, resync,
      selections, presence, left
    case numberedChanges = "c"
    case subscribed, unsubscribed, published, publication, roomHistory, roomPresence, typing
    case receipt, receipts, lastOnline, blocks, flag, flags, following
    case resourceUpdate, documentChanged, error, goodbye, pong
    #if !hasFeature(Embedded)
      case values, signal
    #endif
  }

  /// The message's type; `nil` for a type that this version does not know.
  package var kind: Kind? {
    switch self {
    case .welcome: .welcome
    case .refreshed: .refreshed
    case .granted: .granted
    case .tokenExpiring: .tokenExpiring
    case .accessChanged: .accessChanged
    case .joined: .joined
    case .created: .created
    case .behind: .behind
    case .documentHistory: .documentHistory
    case .changes: .changes
    case .numberedChanges: .numberedChanges
    case .acknowledged: .acknowledged
    case .refused: .refused
    case .resync: .resync
    case .selections: .selections
    case .presence: .presence
    case .left: .left
    case .subscribed: .subscribed
    case .unsubscribed: .unsubscribed
    case .published: .published
    case .publication: .publication
    case .roomHistory: .roomHistory
    case .roomPresence: .roomPresence
    case .typing: .typing
    case .receipt: .receipt
    case .receipts: .receipts
    case .lastOnline: .lastOnline
    case .blocks: .blocks
    case .flag: .flag
    case .flags: .flags
    case .following: .following
    case .resourceUpdate: .resourceUpdate
    case .documentChanged: .documentChanged
    case .error: .error
    case .goodbye: .goodbye
    case .pong: .pong
    #if !hasFeature(Embedded)
      case .values: .values
      case .signal: .signal
    #endif
    case .unknown: nil
    }
  }

  /// Reads a message from the bytes of a text frame.
  ///
  /// - Throws: `MessageError` for anything that is not a message, naming the field and the byte.
  public static func decode(
    _ message: UnsafeRawBufferPointer
  ) throws(MessageError) -> (messageID: String, message: ServerMessage) {
    var envelope = try Envelope(message)
    return (envelope.messageID.string, try decode(envelope.type, from: &envelope))
  }

  static func decode<Source: MessageSource>(
    _ type: JSONText, from source: inout Source
  ) throws(MessageError) -> ServerMessage {
    switch type {
    case "changes": .changes(try source.read())
    case "c": .numberedChanges(try source.read())
    case "acknowledged": .acknowledged(try source.read())
    case "selections": .selections(try source.read())
    case "presence": .presence(try source.read())
    case "welcome": .welcome(try source.read())
    case "refreshed": .refreshed(try source.read())
    case "tokenExpiring": .tokenExpiring(try source.read())
    case "accessChanged": .accessChanged(try source.read())
    case "joined": .joined(try source.read())
    case "behind": .behind(try source.read())
    case "documentHistory": .documentHistory(try source.read())
    case "refused": .refused(try source.read())
    case "resync": .resync(try source.read())
    case "left": .left(try source.read())
    case "resourceUpdate": .resourceUpdate(try source.read())
    case "documentChanged": .documentChanged(try source.read())
    case "error": .error(try source.read())
    case "goodbye": .goodbye(try source.read())
    case "pong": .pong(try source.read())
    case "publication": .publication(try source.read())
    case "subscribed": .subscribed(try source.read())
    case "published": .published(try source.read())
    case "unsubscribed": .unsubscribed(try source.read())
    case "typing": .typing(try source.read())
    case "receipt": .receipt(try source.read())
    case "receipts": .receipts(try source.read())
    case "roomPresence": .roomPresence(try source.read())
    #if !hasFeature(Embedded)
      // Replies to requests that the client in the browser does not send.
      case "granted": .granted(try source.read())
      case "created": .created(try source.read())
      case "roomHistory": .roomHistory(try source.read())
      case "lastOnline": .lastOnline(try source.read())
      case "blocks": .blocks(try source.read())
      case "flag": .flag(try source.read())
      case "flags": .flags(try source.read())
      case "following": .following(try source.read())
      case "values": .values(try source.read())
      case "signal": .signal(try source.read())
    #endif
    default: .unknown(type: type.string)
    }
  }

  /// Appends the message as JSON. Appends nothing for a message of an unknown type.
  ///
  /// - Parameter messageID: For a reply, the id of the message that it answers.
  public func encode(messageID: String, into buffer: inout [UInt8]) {
    encode(messageID: messageID, into: &buffer, text: nil)
  }

  /// Appends the message as JSON. Appends nothing for a message of an unknown type.
  ///
  /// - Parameters:
  ///   - messageID: For a reply, the id of the message that it answers.
  ///   - text: Appends the text of `joined` or `resync` as a JSON string, in place of the message's
  ///     own; or records the position and appends nothing.
  ///   - presence: Appends the participants of `joined` as an array, instead of the message's own.
  package func encode(
    messageID: String, into buffer: inout [UInt8], text: ((inout [UInt8]) -> Void)?,
    presence: ((inout [UInt8]) -> Void)? = nil
  ) {
    guard let kind else { return }
    // The message of a keystroke has no id, to be short: it answers nothing.
    let messageID = kind == .numberedChanges ? nil : messageID
    Envelope.write(messageID: messageID, type: kind.rawValue, into: &buffer) { fields in
      switch self {
      case .welcome(let body): fields.show(body)
      case .refreshed(let body), .granted(let body): fields.show(body)
      case .tokenExpiring(let body): fields.show(body)
      case .accessChanged(let body): fields.show(body)
      case .joined(let body):
        fields.text = text
        fields.presence = presence
        fields.show(body)
      case .created(let body): fields.show(body)
      case .behind(let body): fields.show(body)
      case .documentHistory(let body): fields.show(body)
      case .changes(let body): fields.show(body)
      case .numberedChanges(let body): fields.show(body)
      case .acknowledged(let body): fields.show(body)
      case .refused(let body): fields.show(body)
      case .resync(let body):
        fields.text = text
        fields.show(body)
      case .selections(let body): fields.show(body)
      case .presence(let body): fields.show(body)
      case .left(let body): fields.show(body)
      case .subscribed(let body): fields.show(body)
      case .unsubscribed(let body): fields.show(body)
      case .published(let body): fields.show(body)
      case .publication(let body): fields.show(body)
      case .roomHistory(let body): fields.show(body)
      case .roomPresence(let body): fields.show(body)
      case .typing(let body): fields.show(body)
      case .receipt(let body): fields.show(body)
      case .receipts(let body): fields.show(body)
      case .lastOnline(let body): fields.show(body)
      case .blocks(let body): fields.show(body)
      case .flag(let body): fields.show(body)
      case .flags(let body): fields.show(body)
      case .following(let body): fields.show(body)
      case .resourceUpdate(let body): fields.show(body)
      case .documentChanged(let body): fields.show(body)
      case .error(let body): fields.show(body)
      case .goodbye(let body): fields.show(body)
      case .pong(let body): fields.show(body)
      #if !hasFeature(Embedded)
        case .values(let body): fields.show(body)
        case .signal(let body): fields.show(body)
      #endif
      case .unknown: break
      }
    }
  }
}
