import ParleyJSON
import OTCore

extension ClientMessage {
  /// The message types, by their names on the wire.
  package enum Kind: String, Sendable, CaseIterable {
    case hello, refresh, grant, join, create, documentHistory, change, select, leave, profile
    case subscribe, unsubscribe, publish, roomHistory, typing, receipt, receipts, lastOnline
    case block, blocks, flag, flags, follow
    case ping
    #if !hasFeature(Embedded)
      case values, signal, roomPresence
    #endif
  }

  /// The message's type; `nil` for a type that this version does not know.
  package var kind: Kind? {
    switch self {
    case .hello: .hello
    case .refresh: .refresh
    case .grant: .grant
    case .join: .join
    case .create: .create
    case .documentHistory: .documentHistory
    case .change: .change
    case .select: .select
    case .leave: .leave
    case .profile: .profile
    case .subscribe: .subscribe
    case .unsubscribe: .unsubscribe
    case .publish: .publish
    case .roomHistory: .roomHistory
    case .typing: .typing
    case .receipt: .receipt
    case .receipts: .receipts
    case .lastOnline: .lastOnline
    case .block: .block
    case .blocks: .blocks
    case .flag: .flag
    case .flags: .flags
    case .follow: .follow
    case .ping: .ping
    #if !hasFeature(Embedded)
      case .values: .values
      case .signal: .signal
      case .roomPresence: .roomPresence
    #endif
    case .unknown: nil
    }
  }

  /// Reads a message from the bytes of a text frame.
  ///
  /// - Parameter operationComponentsMax: Maximum components of a change's operation. Reading stops
  ///   at the first component beyond it.
  /// - Throws: `MessageError` for anything that is not a message, naming the field and the byte;
  ///   `tooLarge` for an operation of too many components, naming the change.
  public static func decode(
    _ message: UnsafeRawBufferPointer, operationComponentsMax: Int = .max
  ) throws(MessageError) -> (messageID: String, message: ClientMessage) {
    let envelope = try Envelope(message, operationComponentsMax: operationComponentsMax)
    return (envelope.messageID.string, try decode(envelope))
  }

  /// Reads the message in an envelope.
  package static func decode(_ envelope: Envelope) throws(MessageError) -> ClientMessage {
    var envelope = envelope
    return try decode(envelope.type, from: &envelope)
  }

  static func decode<Source: MessageSource>(
    _ type: JSONText, from source: inout Source
  ) throws(MessageError) -> ClientMessage {
    switch type {
    case "change": .change(try source.read())
    case "select": .select(try source.read())
    case "ping": .ping
    case "hello": .hello(try source.read())
    case "refresh": .refresh(try source.read())
    case "grant": .grant(try source.read())
    case "join": .join(try source.read())
    case "create": .create(try source.read())
    case "documentHistory": .documentHistory(try source.read())
    case "leave": .leave(try source.read())
    case "profile": .profile(try source.read())
    case "subscribe": .subscribe(try source.read())
    case "unsubscribe": .unsubscribe(try source.read())
    case "publish": .publish(try source.read())
    case "roomHistory": .roomHistory(try source.read())
    case "typing": .typing(try source.read())
    case "receipt": .receipt(try source.read())
    case "receipts": .receipts(try source.read())
    case "lastOnline": .lastOnline(try source.read())
    case "block": .block(try source.read())
    case "flag": .flag(try source.read())
    case "flags": .flags(try source.read())
    case "follow": .follow(try source.read())
    case "blocks": .blocks
    #if !hasFeature(Embedded)
      case "values": .values(try source.read())
      case "signal": .signal(try source.read())
      case "roomPresence": .roomPresence(try source.read())
    #endif
    default: .unknown(type: type.string)
    }
  }

  /// Appends the message as JSON. Appends nothing for a message of an unknown type.
  public func encode(messageID: String, into buffer: inout [UInt8]) {
    guard let kind else { return }
    Envelope.write(messageID: messageID, type: kind.rawValue, into: &buffer) { fields in
      switch self {
      case .hello(let body): fields.show(body)
      case .refresh(let body): fields.show(body)
      case .join(let body): fields.show(body)
      case .documentHistory(let body): fields.show(body)
      case .change(let body): fields.show(body)
      case .select(let body): fields.show(body)
      case .leave(let body): fields.show(body)
      case .profile(let body): fields.show(body)
      case .subscribe(let body): fields.show(body)
      case .unsubscribe(let body): fields.show(body)
      case .publish(let body): fields.show(body)
      case .typing(let body): fields.show(body)
      case .receipt(let body): fields.show(body)
      case .receipts(let body): fields.show(body)
      case .blocks, .ping, .unknown: break
      #if hasFeature(Embedded)
        // The client in the browser sends none of these.
        case .grant, .create, .roomHistory, .lastOnline, .block, .flag, .flags, .follow: break
      #else
        case .grant(let body): fields.show(body)
        case .create(let body): fields.show(body)
        case .roomHistory(let body): fields.show(body)
        case .lastOnline(let body): fields.show(body)
        case .block(let body): fields.show(body)
        case .flag(let body): fields.show(body)
        case .flags(let body): fields.show(body)
        case .follow(let body): fields.show(body)
        case .values(let body): fields.show(body)
        case .signal(let body): fields.show(body)
        case .roomPresence(let body): fields.show(body)
      #endif
      }
    }
  }
}
