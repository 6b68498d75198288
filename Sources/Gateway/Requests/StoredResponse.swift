import ParleyGatewayPorts
import ParleyJSON

/// A response in the JSON form that the store contains.
enum StoredResponse {
  /// The whole answer.
  case response(Response)
  /// The stamp of the token that was created. A replay signs the token again, so that the store
  /// contains no credentials.
  case token(TokenStamp)

  /// Maximum bytes of a stored response's body.
  private static let bytesMax = 16_384

  /// Decodes a stored response; `nil` if the bytes are not in this form.
  init?(_ bytes: [UInt8]) {
    guard let fields = JSONFields(bytes) else { return nil }
    if let id = fields["token"]?.string {
      guard let time = fields["time"]?.integer else { return nil }
      self = .token(TokenStamp(id: id, time: Timestamp(time)))
      return
    }
    guard let status = fields["status"]?.integer, let body = fields["body"]?.string,
      let headers = fields["headers"]?.fields
    else { return nil }
    self = .response(
      Response(
        status: status,
        headers: headers.all.compactMap { field in
          field.value.string.map { (name: field.name, value: $0) }
        },
        body: Array(body.utf8)))
  }

  /// The response in JSON; `nil` if it must not be stored, because it is an error or too long.
  var bytes: [UInt8]? {
    var bytes: [UInt8] = []
    switch self {
    case .token(let stamp):
      JSONWriter.object(&bytes) { object, bytes in
        object.field("token", stamp.id, &bytes)
        object.field("time", Int(stamp.time), &bytes)
      }
    case .response(let response):
      guard response.isSuccess, response.body.count <= Self.bytesMax else { return nil }
      JSONWriter.object(&bytes) { object, bytes in
        object.field("status", response.status, &bytes)
        object.key("headers", &bytes)
        JSONWriter.object(&bytes) { headers, bytes in
          for header in response.headers {
            headers.key(named: header.name, &bytes)
            JSONWriter.string(header.value, &bytes)
          }
        }
        object.field("body", String(decoding: response.body, as: UTF8.self), &bytes)
      }
    }
    return bytes
  }
}

/// The id and time that distinguish a token from others with the same rights.
struct TokenStamp: Sendable, Equatable {
  /// The token's id.
  var id: String
  /// The time at which the token was created.
  var time: Timestamp
}
