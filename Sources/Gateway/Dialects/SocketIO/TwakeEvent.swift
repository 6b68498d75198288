import ParleyJSON

/// The events that clients of the Twake family send.
package enum TwakeEvent: String, Sendable, CaseIterable {
  case authenticate
  case join = "realtime:join"
  case leave = "realtime:leave"
  case event = "realtime:event"
  case getOnline = "online:get"
  case setOnline = "online:set"

  /// The fields that are read of their arguments.
  package static let fields = [
    "name", "token", "data", "position", "pid", "offset", "recovery",
  ]
}

/// The fields of an event's first argument, and of a client's credentials when it enters.
///
/// All are read in one pass. A field of another type, and a longer name or token, counts as missing; of one that comes
/// twice, the last counts.
struct TwakeFields {
  /// Bytes of a name or a token, as they were sent: as many as a head of a request has room for.
  static let nameBytesMax = 16 << 10

  /// A room; empty if none is named.
  private(set) var name = ""
  private(set) var token: String?
  private(set) var data: JSONValue?
  private(set) var position: JSONValue?
  /// `pid`
  private(set) var recoveryID: String?
  /// The place up to which a client has received all.
  private(set) var offset: String?
  private(set) var asksForRecovery = false

  init(_ argument: JSONValue?) {
    var fields = Self()
    argument?.forEachField { key, reader throws(JSONError) in
      switch key {
      case "name": fields.name = try reader.stringIfAny(bytesMax: Self.nameBytesMax) ?? ""
      case "token": fields.token = try reader.stringIfAny(bytesMax: Self.nameBytesMax)
      case "data": fields.data = try reader.value()
      case "position": fields.position = try reader.value()
      case "pid": fields.recoveryID = try reader.stringIfAny(bytesMax: Self.nameBytesMax)
      case "offset": fields.offset = try reader.stringIfAny(bytesMax: Self.nameBytesMax)
      case "recovery": fields.asksForRecovery = try reader.value().boolean ?? false
      default: try reader.skipValue()
      }
    }
    self = fields
  }

  private init() {}
}
