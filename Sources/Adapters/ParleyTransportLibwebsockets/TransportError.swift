import Glibc

/// The reason why a transport did not start.
public enum TransportError: Error, Sendable, Equatable {
  /// Another program listens on the port.
  case addressInUse(host: String, port: Int)
  /// The address cannot be bound, for example because it is not one of this machine's.
  case cannotListen(host: String, port: Int, reason: String)
  /// The host is neither an address nor a known name.
  case unknownHost(String, reason: String)
  /// A certificate or key is missing, unreadable, or does not match the other.
  case certificate(path: String, reason: String)
  /// The system refused a resource.
  case cannotStart(reason: String)
}

extension TransportError: CustomStringConvertible {
  /// The expectation, what came instead, and what to do.
  public var description: String {
    switch self {
    case .addressInUse(let host, let port):
      "port \(port) at \(host) is in use by another program; stop that, or choose another port"
    case .cannotListen(let host, let port, let reason):
      "cannot listen on port \(port) at \(host): \(reason); choose an address of this machine, and a port above 1023 unless you have the right to lower ones"
    case .unknownHost(let host, let reason):
      "the host \(host) is unknown: \(reason); give an address, or a name this machine can look up"
    case .certificate(let path, let reason):
      "cannot use \(path) for TLS: \(reason); give a PEM certificate and the key it was made for, readable by this user"
    case .cannotStart(let reason):
      "the network did not start: \(reason)"
    }
  }
}

/// Returns the system's message for an error number.
func systemMessage(_ number: Int32) -> String {
  String(cString: strerror(number))
}
