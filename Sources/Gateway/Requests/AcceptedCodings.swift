/// The content codings that an `accept-encoding` header accepts.
package struct AcceptedCodings {
  private var named: [String: Bool] = [:]
  private var isAnyAccepted = false

  /// Reads the header; without one no coding is accepted.
  ///
  /// A coding that the header does not name is accepted if `*` is. A weight of 0 rejects a coding.
  package init(_ header: String?) {
    for coding in header?.split(separator: ",") ?? [] {
      let parts = coding.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
      guard let name = parts.first?.lowercased() else { continue }
      let weight = parts.dropFirst().first { $0.lowercased().hasPrefix("q=") }?.dropFirst(2)
      let isAccepted = weight.map { $0.contains { $0 >= "1" && $0 <= "9" } } ?? true
      if name == "*" {
        isAnyAccepted = isAccepted
      } else {
        named[name == "x-gzip" ? "gzip" : name] = isAccepted
      }
    }
  }

  /// Whether a coding is accepted.
  package func contains(_ coding: String) -> Bool { named[coding] ?? isAnyAccepted }
}
