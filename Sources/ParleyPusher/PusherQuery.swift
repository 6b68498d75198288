/// The query of a request to the Pusher HTTP API, signed by the app:
///
///     POST\n/apps/3/events\nauth_key=…&auth_timestamp=…&auth_version=1.0&body_md5=…
///
/// Names are in lower case and sorted. Some backends sign the values as sent, others before
/// encoding them; both are accepted.
public struct PusherQuery: Sendable {
  /// The reason to reject a request.
  public enum Problem: Error, Sendable, Equatable {
    /// A field is missing or has the wrong form.
    case malformed
    /// The key belongs to another app.
    case key
    /// The version of the signature is not supported.
    case version
    /// The time differs too much from the server's.
    case time
    /// The body differs from the signed one.
    case body
    /// The signature is invalid.
    case signature

    /// The text for the backend's developer.
    public var message: String {
      switch self {
      case .malformed:
        "expected auth_key, auth_timestamp, auth_version and auth_signature, each field once"
      case .key: "auth_key is not this app's"
      case .version: "expected auth_version=1.0"
      case .time:
        "auth_timestamp is over \(PusherQuery.secondsMax) s from the server's time; check the clocks"
      case .body: "body_md5 is not the body's"
      case .signature: "auth_signature is not valid; check the app's key and secret"
      }
    }
  }

  /// Maximum seconds between a request's time and the server's.
  public static let secondsMax = 600

  private struct Field {
    let name: [UInt8]
    let value: Substring.UTF8View
    let decoded: [UInt8]
  }

  private let fields: [Field]

  /// Parses a query; `nil` if a name occurs twice, or the encoding is malformed.
  public init?(_ text: String) {
    var fields: [Field] = []
    for pair in text[...].utf8.split(separator: UInt8(ascii: "&")) {
      let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
      guard let name = Self.decoded(pair[..<equals]) else { return nil }
      let value = equals == pair.endIndex ? pair[equals...] : pair[pair.index(after: equals)...]
      guard let decoded = Self.decoded(value) else { return nil }
      let lowered = name.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
      fields.append(Field(name: lowered, value: value, decoded: decoded))
    }
    fields.sort { $0.name.lexicographicallyPrecedes($1.name) }
    for (one, next) in zip(fields, fields.dropFirst()) where one.name == next.name { return nil }
    self.fields = fields
  }

  /// The decoded value of a field; `nil` if the query does not contain the field.
  public subscript(name: String) -> String? {
    let name = Array(name.utf8)
    return fields.first { $0.name == name }.map { String(decoding: $0.decoded, as: UTF8.self) }
  }

  /// Checks that the app has signed the request recently.
  ///
  /// - Parameters:
  ///   - path: The path as sent.
  ///   - seconds: The server's time in seconds since 1970.
  public func check(
    _ method: String, _ path: String, of app: PusherApp, at seconds: Int64
  ) throws(Problem) {
    guard let key = self["auth_key"], let time = self["auth_timestamp"].flatMap({ Int64($0) }),
      let version = self["auth_version"], let signature = self["auth_signature"]
    else { throw .malformed }
    guard PusherApp.areEqual(app.key, key) else { throw .key }
    guard version == "1.0" else { throw .version }
    let start = Array("\(method)\n\(path)\n".utf8)
    let asSent = app.signature(start + text { Array($0.value) })
    // With a decoded separator in a value, the text could be that of another query.
    let isPlain = fields.allSatisfy { !$0.decoded.contains { "&=\n".utf8.contains($0) } }
    let asWritten = isPlain ? app.signature(start + text(\.decoded)) : asSent
    let isSigned = PusherApp.areEqual(asSent, signature)
    guard PusherApp.areEqual(asWritten, signature) || isSigned else { throw .signature }
    let (distance, isOver) = seconds.subtractingReportingOverflow(time)
    guard !isOver, distance.magnitude <= UInt64(Self.secondsMax) else { throw .time }
  }

  /// Checks that the app has signed the body.
  public func check(_ body: [UInt8], of app: PusherApp) throws(Problem) {
    guard let expected = self["body_md5"] else {
      guard body.isEmpty else { throw .body }
      return
    }
    guard PusherApp.areEqual(app.digest(body), expected) else { throw .body }
  }

  private func text(_ value: (Field) -> [UInt8]) -> [UInt8] {
    Array(
      fields.filter { !$0.name.elementsEqual("auth_signature".utf8) }
        .map { $0.name + [UInt8(ascii: "=")] + value($0) }
        .joined(separator: [UInt8(ascii: "&")]))
  }

  private static func decoded(_ text: Substring.UTF8View) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = text[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit)
        else { return nil }
        bytes.append(high << 4 | low)
      default: bytes.append(byte)
      }
    }
    return bytes
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x37
    case 0x61...0x66: byte - 0x57
    default: nil
    }
  }
}
