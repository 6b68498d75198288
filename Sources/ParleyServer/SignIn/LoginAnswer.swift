import Gateway
import GatewayPorts
import JSON

/// Answers to logins, in the shape that Whaler clients know.
enum LoginAnswer {
  /// The codes that these clients know.
  enum Code: Int {
    case loggedIn = 1000
    case loggedOut = 1001
    case malformed = 4000
    case credentials = 4001
    case refreshToken = 4004
    case invitation = 4010
    case name = 4011
    case taken = 4012
    case password = 4013
    case unavailable = 5001
  }

  /// New tokens of a user.
  ///
  /// - Parameter refreshToken: `nil` where the browser keeps it in a cookie.
  static func welcome(
    id: String, name: String, accessToken: String, refreshToken: String?
  ) -> Response {
    response(.loggedIn, "Logged in", status: 200) { data, body in
      data.key("response", &body)
      JSONWriter.object(&body) { object, body in
        object.field("id", id, &body)
        object.field("email", id, &body)
        object.field("name", name, &body)
      }
      data.key("tokens", &body)
      JSONWriter.object(&body) { object, body in
        object.field("accessToken", accessToken, &body)
        object.field("refreshToken", refreshToken, &body)
        if refreshToken == nil { object.field("kept", true, &body) }
      }
    }
  }

  /// The end of a session.
  static var goodbye: Response { response(.loggedOut, "Logged out", status: 200) { _, _ in } }

  /// An error as these clients know it: their own code, in most cases with status 200.
  static func problem(_ code: Code, _ message: String, status: Int = 200) -> Response {
    response(code, message, status: status) { _, _ in }
  }

  /// The answer if a token may have been revoked at a gateway that this one cannot reach. New tokens would
  /// outlive the revocation.
  static var unverified: Response {
    problem(.unavailable, "Revocations cannot be read now", status: 503)
  }

  /// The answer if the store cannot keep or find a session.
  static var storeUnavailable: Response {
    problem(.unavailable, "The store cannot do this now; try again later", status: 503)
  }

  /// The refresh token in a request's body; `nil` if it has none.
  static func refreshToken(in body: [UInt8]) -> String? {
    JSONBody.string("refreshToken", in: body)
  }

  private static func response(
    _ code: Code, _ message: String, status: Int,
    _ data: (inout JSONWriter.Object, inout [UInt8]) -> Void
  ) -> Response {
    let body = JSONWriter.object { object, body in
      object.field("code", code.rawValue, &body)
      object.field("message", message, &body)
      object.field("hasError", code != .loggedIn && code != .loggedOut, &body)
      object.key("data", &body)
      JSONWriter.object(&body, data)
    }
    return Response(
      status: status,
      headers: [("content-type", "application/json"), ("cache-control", "no-store")], body: body)
  }
}
