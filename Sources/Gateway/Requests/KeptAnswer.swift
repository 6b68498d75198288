import ParleyGatewayPorts
import ParleyJSON

/// An answer as the store keeps it, in JSON.
enum KeptAnswer {
  /// The whole answer.
  case response(Response)
  /// The token that was made. It is signed again: the store holds nothing that opens a door.
  case token(TokenStamp)

  /// Bytes that an answer may have to be kept.
  private static let bytesMax = 16_384

  /// Reads an answer; `nil` if this program did not write it.
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

  /// The answer in JSON; `nil` if it is not kept: answers that refuse are not, nor answers that are too
  /// long.
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

/// A stamp that tells a token from all others with the same rights.
struct TokenStamp: Sendable, Equatable {
  /// The token's own id.
  var id: String
  /// The time at which the token was made.
  var time: Timestamp
}
