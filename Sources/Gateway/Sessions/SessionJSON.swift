import ParleyGatewayPorts
import ParleyJSON

/// The JSON of sessions in the HTTP API.
enum SessionJSON {
  /// `{"sessions": [ … ]}`.
  ///
  /// - Parameter own: The id of the caller's own session, if it has one.
  static func list(_ sessions: [Session], own: String?) -> [UInt8] {
    JSONWriter.object { object, body in
      object.key("sessions", &body)
      JSONWriter.array(sessions, &body) { session, body in
        JSONWriter.object(&body) { object, body in
          object.field("id", session.id, &body)
          object.field("browser", session.device.browser, &body)
          object.field("system", session.device.system, &body)
          object.field("begunAt", Int(session.begunAt), &body)
          object.field("usedAt", Int(session.renewedAt), &body)
          object.field("expiresAt", Int(session.expiresAt), &body)
          let isOwn = own.map { session.id.isExactly($0) } ?? false
          object.field("current", isOwn, &body)
        }
      }
    }
  }

  /// `{"ended": 2}`.
  static func ended(_ count: Int) -> [UInt8] {
    JSONWriter.object { $0.field("ended", count, &$1) }
  }
}
