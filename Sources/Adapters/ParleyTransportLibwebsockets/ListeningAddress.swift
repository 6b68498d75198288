import CParleyLibwebsocketsShim
import Glibc

/// An address to bind, without a port.
struct ListeningAddress: Equatable {
  /// `AF_INET` or `AF_INET6`.
  let family: Int32
  /// The bytes of a `sockaddr` of the family, with port 0.
  private let bytes: [UInt8]

  /// Copies a resolved address.
  init(_ entry: addrinfo) {
    family = entry.ai_family
    bytes = Array(UnsafeRawBufferPointer(start: entry.ai_addr, count: Int(entry.ai_addrlen)))
  }

  private init(anyOf family: Int32, byteCount: Int) {
    self.family = family
    var bytes = [UInt8](repeating: 0, count: byteCount)
    bytes.withUnsafeMutableBytes { $0.storeBytes(of: UInt16(family), as: UInt16.self) }
    self.bytes = bytes
  }

  /// All IPv4 addresses of the machine.
  static let anyFour = ListeningAddress(anyOf: AF_INET, byteCount: MemoryLayout<sockaddr_in>.size)
  /// All IPv6 addresses of the machine.
  static let anySix = ListeningAddress(anyOf: AF_INET6, byteCount: MemoryLayout<sockaddr_in6>.size)

  /// Whether it is the wildcard address of its family.
  var isWildcard: Bool { self == .anyFour || self == .anySix }

  /// Whether a socket at this address also accepts connections to the other one.
  func contains(_ other: ListeningAddress) -> Bool {
    self == other || isWildcard && family == other.family
  }

  /// Calls `body` with the address and a port as a `sockaddr`.
  func withSystemAddress<Result>(
    port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    var address = sockaddr_storage()
    withUnsafeMutableBytes(of: &address) {
      $0.copyBytes(from: bytes)
      // In both families the port follows the family.
      $0.storeBytes(
        of: UInt16(truncatingIfNeeded: port).bigEndian, toByteOffset: 2, as: UInt16.self)
    }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(bytes.count)) }
    }
  }
}
