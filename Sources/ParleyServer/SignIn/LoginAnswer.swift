import Gateway
import ParleyGatewayPorts
import ParleyJSON

/// Responses to login requests, in the format of Whaler clients.
enum LoginAnswer {
  /// The response codes of the format.
  enum Code: Int {
    case loggedIn = 1000
    case loggedOut = 1001
    case accepted = 1002
    case malformed = 4000
    case credentials = 4001
    case refreshToken = 4004
    case invitation = 4010
    case name = 4011
    case taken = 4012
    case password = 4013
    case reset = 4014
    case unavailable = 5001
  }

  /// Returns new tokens for a user.
  ///
  /// - Parameter refreshToken: The refresh token; `nil` if the browser stores it in a cookie.
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

  /// The response after a session was ended.
  static var goodbye: Response { response(.loggedOut, "Logged out", status: 200) { _, _ in } }

  /// The response to a request for a new password, whether or not the account exists.
  static var resetAccepted: Response {
    response(
      .accepted, "If this account has a mail address, a link is on its way", status: 200
    ) { _, _ in }
  }

  /// Returns an error in the format: with its own code, in most cases with status 200.
  static func problem(_ code: Code, _ message: String, status: Int = 200) -> Response {
    response(code, message, status: status) { _, _ in }
  }

  /// The response while this gateway cannot read revocations of other gateways: new tokens would
  /// outlive a revocation that it has missed.
  static var unverified: Response {
    problem(.unavailable, "Revocations cannot be read now", status: 503)
  }

  /// The response if the store can neither store nor find a session.
  static var storeUnavailable: Response {
    problem(.unavailable, "The store cannot do this now; try again later", status: 503)
  }

  /// Returns the refresh token in a request's body; `nil` if the body contains none.
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
      object.field("hasError", code != .loggedIn && code != .loggedOut && code != .accepted, &body)
      object.key("data", &body)
      JSONWriter.object(&body, data)
    }
    return Response(
      status: status,
      headers: [("content-type", "application/json"), ("cache-control", "no-store")], body: body)
  }
}
