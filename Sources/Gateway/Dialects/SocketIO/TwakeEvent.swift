import ParleyJSON

/// The events that clients of the Twake family send.
package enum TwakeEvent: String, Sendable, CaseIterable {
  case authenticate
  case join = "realtime:join"
  case leave = "realtime:leave"
  case event = "realtime:event"
  case getOnline = "online:get"
  case setOnline = "online:set"

  /// The fields that the server reads from the events' arguments.
  package static let fields = [
    "name", "token", "data", "position", "pid", "offset", "recovery",
  ]
}

/// The fields of an event's first argument, or of a client's credentials in CONNECT.
///
/// All are read in one pass. A field of the wrong type or over the maximum length counts as
/// missing. If a field occurs several times, the last one counts.
struct TwakeFields {
  /// Maximum bytes of a name or token as sent, which is also the maximum head of a request.
  static let nameBytesMax = 16 << 10

  /// The room's name; empty if missing.
  private(set) var name = ""
  private(set) var token: String?
  private(set) var data: JSONValue?
  private(set) var position: JSONValue?
  /// The recovery id, `pid`.
  private(set) var recoveryID: String?
  /// The position in the log through which the client has received all events.
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
