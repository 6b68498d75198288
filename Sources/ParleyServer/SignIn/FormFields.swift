import GatewayPorts

/// Fields as forms and queries write them.
enum FormFields {
  /// Names and values, percent-encoded.
  static func text(_ fields: [(name: String, value: String)]) -> String {
    fields.map { PercentEncoding.encoded($0.name) + "=" + PercentEncoding.encoded($0.value) }
      .joined(separator: "&")
  }
}
