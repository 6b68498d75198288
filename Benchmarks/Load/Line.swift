import CParleyClientTLS
import Glibc

/// A connected non-blocking socket of the load program, plain or with TLS.
struct Line {
  private(set) var file: Int32 = -1
  private var ssl: OpaquePointer?

  /// The result of a read or write that would block.
  static let blocked = -1
  static let failed = -2

  init() {}

  /// Creates a line on a non-blocking socket.
  init(file: Int32, tls: ClientTLS?) {
    self.file = file
    ssl = tls?.open(file)
  }

  var isEncrypted: Bool { ssl != nil }

  /// Continues the TLS handshake. Returns whether it is complete.
  func shake() -> Bool {
    guard let ssl else { return true }
    let result = parley_client_tls_shake(ssl)
    if result == 1 { return true }
    if result == Int32(parley_client_tls_failed) {
      fail(
        "the handshake of TLS failed: "
          + (parley_client_tls_objection(ssl).map { String(cString: $0) } ?? "no objection"))
    }
    return false
  }

  /// Returns the number of bytes read, 0 at the end, or `blocked` or `failed`.
  @inline(__always)
  func receive(_ bytes: UnsafeMutableRawPointer, _ room: Int) -> Int {
    guard let ssl else {
      let count = recv(file, bytes, room, 0)
      return count >= 0 ? count : errno == EAGAIN ? Self.blocked : Self.failed
    }
    return Self.result(parley_client_tls_read(ssl, bytes, Int32(clamping: room)))
  }

  /// Returns the number of bytes that were accepted, or `blocked` or `failed`.
  @inline(__always)
  func send(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard let ssl else {
      let count = Glibc.send(file, bytes.baseAddress, bytes.count, 0)
      return count >= 0 ? count : errno == EAGAIN ? Self.blocked : Self.failed
    }
    guard let base = bytes.baseAddress else { return 0 }
    return Self.result(parley_client_tls_write(ssl, base, Int32(clamping: bytes.count)))
  }

  private static func result(_ count: Int32) -> Int {
    switch count {
    case Int32(parley_client_tls_wants_read), Int32(parley_client_tls_wants_write):
      blocked
    case Int32(parley_client_tls_failed): failed
    default: Int(count)
    }
  }

  func close() {
    if let ssl { parley_client_tls_close(ssl) }
    Glibc.close(file)
  }
}

/// The client side of TLS, which trusts one certificate.
final class ClientTLS {
  private let context: OpaquePointer

  /// - Parameter certificate: A PEM file for the address 127.0.0.1.
  init(trusting certificate: String) {
    guard let context = parley_client_tls_create(certificate) else {
      fail("\(certificate) cannot be read as a certificate")
    }
    self.context = context
  }

  deinit { parley_client_tls_destroy(context) }

  fileprivate func open(_ file: Int32) -> OpaquePointer {
    guard let ssl = parley_client_tls_open(context, file, "127.0.0.1", 1) else {
      fail("OpenSSL has no memory")
    }
    return ssl
  }
}
