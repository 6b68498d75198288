import ParleyGatewayPorts
import ParleyJSON

/// The forms of data that clients of Twake send and expect.
enum TwakeForm {
  /// Maximum users in a reply; further users are left out.
  static let usersMax = 1_000

  /// Returns the machine-readable data of `unauthorized` and of a refused `CONNECT`.
  static func refusalData(_ reason: String) -> JSONValue {
    [
      "message": JSONValue(reason), "code": JSONValue("invalid_token"),
      "type": JSONValue("UnauthorizedError"),
    ]
  }

  /// Returns the data with each user id replaced by the sender's: no client may publish as others.
  static func stamped(_ data: JSONValue, _ person: PersonID) -> JSONValue {
    guard let parts = data.values(of: "user_id", "event") else { return data }
    let own = JSONFields.Field("user_id", JSONValue(person))
    var fields: [JSONFields.Field] = []
    if parts[0] != nil { fields.append(own) }
    if let event = parts[1], event.value(of: "user_id") != nil {
      fields.append(.init("event", event.replacing([own])))
    }
    return data.replacing(fields)
  }

  /// Returns the room that shows who of a company is online, for any room of the company.
  static func presenceRoom(for room: RoomName) -> RoomName? {
    for prefix in ["/users/online/", "/companies/", "/company/"] {
      guard room.text.utf8.starts(with: prefix.utf8) else { continue }
      let company = room.text.utf8.dropFirst(prefix.utf8.count).prefix { $0 != UInt8(ascii: "/") }
      guard !company.isEmpty else { return nil }
      return RoomName("/users/online/" + String(decoding: company, as: UTF8.self))
    }
    return nil
  }

  /// Returns the user ids in `{"data": [...]}`, in a list, or in the arguments.
  static func users(in arguments: [JSONValue]) -> [String] {
    let data = arguments.first?.value(of: "data")
    let users = (data ?? arguments.first)?.firstElements(usersMax) ?? data.map { [$0] } ?? arguments
    return users.compactMap { $0.utf8.count <= TwakeFields.nameBytesMax ? $0.string : nil }
  }
}
