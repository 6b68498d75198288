import CParleyLibwebsocketsShim
import ParleyGatewayPorts
import Glibc

/// Functions that open listening sockets.
enum Listener {
  /// Binds all addresses of the hosts, on one port.
  ///
  /// `::` means all addresses, IPv4 included, with a socket for each family. An address that is
  /// covered by another one is not bound again.
  static func open(
    hosts: [String], port: Int
  ) throws(TransportError) -> (sockets: [Int32], port: Int) {
    var bound: [(address: ListeningAddress, socket: Int32)] = []
    var port = port
    do throws(TransportError) {
      let places = try hosts.map { host throws(TransportError) in
        (host, addresses: try addresses(of: host))
      }
      // Find wildcard addresses first: they cover the others.
      let wildcards = places.flatMap(\.addresses).filter(\.isWildcard)
      for (host, addresses) in places {
        try bind(addresses, of: host, besides: wildcards, at: &port, &bound)
      }
    } catch {
      close(bound.map(\.socket))
      throw error
    }
    return (bound.map(\.socket), port)
  }

  /// Binds the addresses of a host that are not covered yet; throws if none of them is served.
  private static func bind(
    _ addresses: [ListeningAddress], of host: String, besides wildcards: [ListeningAddress],
    at port: inout Int, _ bound: inout [(address: ListeningAddress, socket: Int32)]
  ) throws(TransportError) {
    var isServed = false
    var failure: Int32 = 0
    for address in addresses {
      if bound.contains(where: { $0.address.contains(address) })
        || !address.isWildcard && wildcards.contains(where: { $0.contains(address) })
      {
        isServed = true
        continue
      }
      switch bind(address, port: port) {
      case .success(let socket):
        if port == 0 { port = localPort(of: socket) }
        bound.append((address, socket))
        isServed = true
      case .failure(let error):
        // A name may resolve to an address family that this machine has disabled.
        failure = error.number
        if error.number == EADDRINUSE { throw .addressInUse(host: host, port: port) }
      }
    }
    if !isServed { throw .cannotListen(host: host, port: port, reason: systemMessage(failure)) }
  }

  /// Resolves a host.
  private static func addresses(of host: String) throws(TransportError) -> [ListeningAddress] {
    var hints = addrinfo()
    hints.ai_flags = AI_PASSIVE
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, nil, &hints, &list)
    guard status == 0 else {
      throw .unknownHost(host, reason: String(cString: gai_strerror(status)))
    }
    defer { freeaddrinfo(list) }
    var addresses: [ListeningAddress] = []
    var next = list
    while let entry = next?.pointee {
      next = entry.ai_next
      addresses.append(ListeningAddress(entry))
    }
    return addresses.contains(.anySix) ? addresses + [.anyFour] : addresses
  }

  /// Closes sockets.
  static func close(_ sockets: [Int32]) {
    for socket in sockets { _ = Glibc.close(socket) }
  }

  /// Returns the reason why a file cannot be read, or `nil`.
  static func unreadable(_ path: String) -> String? {
    access(path, R_OK) == 0 ? nil : systemMessage(errno)
  }

  private struct SystemError: Error {
    var number: Int32
  }

  private static func bind(
    _ place: ListeningAddress, port: Int
  ) -> Result<Int32, SystemError> {
    let descriptor = socket(
      place.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue),
      0)
    guard descriptor >= 0 else { return .failure(SystemError(number: errno)) }
    var one: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    if place.family == AF_INET6 {
      setsockopt(
        descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &one,
        socklen_t(MemoryLayout<Int32>.size))
    }
    let status = place.withSystemAddress(port: port) { Glibc.bind(descriptor, $0, $1) }
    guard status == 0, listen(descriptor, 1024) == 0 else {
      let number = errno
      _ = Glibc.close(descriptor)
      return .failure(SystemError(number: number))
    }
    return .success(descriptor)
  }

  private static func localPort(of descriptor: Int32) -> Int {
    var address = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = getsockname(descriptor, $0, &length)
      }
    }
    return withUnsafeBytes(of: &address) {
      Int(UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self)))
    }
  }

  /// Returns the address as text; an IPv4-mapped IPv6 address as IPv4.
  static func name(of address: inout sockaddr_storage) -> String {
    let family = Int32(address.ss_family)
    if family == AF_INET {
      return withUnsafeBytes(of: &address) {
        IPAddress(four: UInt32(bigEndian: $0.load(fromByteOffset: 4, as: UInt32.self))).description
      }
    }
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let found = withUnsafeBytes(of: &address) { bytes -> Bool in
      guard let base = bytes.baseAddress else { return false }
      return inet_ntop(family, base + 8, &text, socklen_t(text.count)) != nil
    }
    guard found else { return "" }
    let end = text.firstIndex(of: 0) ?? text.count
    let name = String(decoding: text[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return name.hasPrefix("::ffff:") && name.contains(".") ? String(name.dropFirst(7)) : name
  }
}
