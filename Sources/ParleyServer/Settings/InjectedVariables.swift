/// Environment variables that a container platform sets for a service called `parley`: they begin
/// with `PARLEY_`, but are not settings.
///
/// Kubernetes sets them in every pod of the namespace, Docker in containers with a link:
///
///     PARLEY_SERVICE_HOST, PARLEY_SERVICE_PORT, PARLEY_SERVICE_PORT_HTTP
///     PARLEY_PORT=tcp://10.0.0.7:8080
///     PARLEY_PORT_8080_TCP, PARLEY_PORT_8080_TCP_ADDR, PARLEY_PORT_8080_TCP_PORT,
///     PARLEY_PORT_8080_TCP_PROTO
///     PARLEY_ENV_LANG                                    only Docker
///
/// A service `parley-live` has the same variables, with the prefix `PARLEY_LIVE_`.
package struct InjectedVariables: Sendable, Equatable, CustomStringConvertible {
  /// The variables' names, in order.
  package private(set) var names: [String] = []

  /// Adds a variable if it is injected; returns whether it is.
  mutating func take(_ name: String, _ value: String) -> Bool {
    guard Self.contains(name, value) else { return false }
    names.append(name)
    return true
  }

  /// A warning with the names of ignored variables, without their values, and the remedy.
  package var description: String {
    let rest = names.count - 1
    return "ignored \(names.first ?? "nothing")"
      + (rest == 0 ? "" : " and \(rest) more \(rest == 1 ? "variable" : "variables")")
      + ", which Kubernetes or Docker sets for a service with this name; set enableServiceLinks: false "
      + "in the pod, or rename the service"
  }

  /// Whether a platform injects a variable with this name and value.
  package static func contains(_ name: String, _ value: String) -> Bool {
    let words = name.split(separator: "_", omittingEmptySubsequences: false)
    guard words.first == "PARLEY" else { return false }
    if words.count > 2, words[1] == "ENV" { return true }
    for index in 1..<words.count {
      let rest = words[index...].dropFirst()
      switch words[index] {
      case "SERVICE" where rest.first == "HOST" && rest.count == 1: return true
      // A port may have a name of any number of words.
      case "SERVICE" where rest.first == "PORT": return true
      case "PORT" where rest.isEmpty && isURL(value): return true
      case "PORT" where isPort(rest): return true
      default: continue
      }
    }
    return false
  }

  private static let protocols: Set<Substring> = ["TCP", "UDP", "SCTP"]

  /// Whether a value is the address of a port, such as `tcp://10.0.0.7:8080`.
  private static func isURL(_ value: String) -> Bool {
    protocols.contains { value.hasPrefix($0.lowercased() + "://") }
  }

  /// Whether words are a port number and protocol, optionally followed by a part of the address.
  private static func isPort(_ words: ArraySlice<Substring>) -> Bool {
    guard let number = words.first, !number.isEmpty,
      number.utf8.allSatisfy({ (48...57).contains($0) }),
      let transport = words.dropFirst().first, protocols.contains(transport)
    else { return false }
    let part = words.dropFirst(2)
    return part.isEmpty
      || part.count == 1 && ["ADDR", "PORT", "PROTO", "START", "END"].contains(part.first)
  }
}
