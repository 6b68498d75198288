import ParleyCryptoOpenSSL
import Gateway
import ParleyGatewayPorts
import ParleyHTTPClientCurl
import ParleyJSON

/// The id and body of a call that delivers events.
///
/// The same events result in the same id and body, so a target can detect a repeated call.
struct HookRequest {
  let id: String
  let body: [UInt8]

  /// Encodes events as one call.
  ///
  /// - Parameter target: For the webhook, the body is a list of events with their ids; for other
  ///   targets, it is the data of the only event.
  init(_ events: [OutboxEvent], for target: OutboxTarget) {
    let first = events.first?.id ?? ""
    switch target {
    case .webhook:
      id = "\(first)-\(events.count)"
      body = JSONWriter.object { object, body in
        object.key("events", &body)
        JSONWriter.array(events, &body) { event, body in
          JSONWriter.object(&body) { object, body in
            object.field("id", event.id, &body)
            object.field("type", event.type, &body)
            object.field("time", Int(event.time), &body)
            object.field("data", JSONValue(trusted: event.data), &body)
          }
        }
      }
    case .push, .rooms, .followers, .mail:
      id = first
      body = events.first?.data ?? []
    }
  }

  /// Returns the request, signed if there is a secret.
  func call(
    _ address: HookAddress, seconds: Int64, signer: WebhookSigner, timeoutMilliseconds: Int
  ) -> CurlClient.Request {
    var headers = [
      "content-type: application/json", "user-agent: Parley/\(Version.current)",
      "webhook-id: \(id)", "webhook-timestamp: \(seconds)",
    ]
    if let signature = signer.signature(id: id, seconds: seconds, body: body) {
      headers.append("webhook-signature: \(signature)")
    }
    return CurlClient.Request(
      url: address.text, headers: headers, body: body, timeoutMilliseconds: timeoutMilliseconds)
  }
}

extension DeliverySchedule.Answer {
  /// Interprets the outcome of a request.
  init(_ outcome: CurlClient.Outcome) {
    switch outcome {
    case .answered(200...299, _): self = .accepted
    case .answered(410, _): self = .unwanted
    // These statuses mean to retry later or to fix the credentials; no event is invalid.
    case .answered(401, let seconds), .answered(403, let seconds), .answered(404, let seconds),
      .answered(408, let seconds), .answered(425, let seconds), .answered(429, let seconds):
      self = .failed(retryAfterSeconds: seconds)
    case .answered(400...499, _): self = .faulted
    case .answered(_, let seconds): self = .failed(retryAfterSeconds: seconds)
    case .failed: self = .failed(retryAfterSeconds: nil)
    }
  }

  /// The name in metrics.
  var word: String {
    switch self {
    case .accepted: "accepted"
    case .unwanted: "unwanted"
    case .faulted: "faulted"
    case .failed: "failed"
    }
  }
}
