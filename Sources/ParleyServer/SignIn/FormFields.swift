import ParleyGatewayPorts

/// The encoding of form fields and of queries.
enum FormFields {
  /// Returns the names and values, percent-encoded and joined by `&`.
  static func text(_ fields: [(name: String, value: String)]) -> String {
    fields.map { PercentEncoding.encoded($0.name) + "=" + PercentEncoding.encoded($0.value) }
      .joined(separator: "&")
  }
}
