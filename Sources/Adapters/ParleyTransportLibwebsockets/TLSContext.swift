import CParleyLibwebsocketsShim

/// A server's certificate, key and TLS versions, as set up by libwebsockets for OpenSSL.
final class TLSContext {
  private let handle: OpaquePointer
  private let paths: LibwebsocketsTransport.Configuration.TLS

  /// Loads a certificate and its key.
  init(_ paths: LibwebsocketsTransport.Configuration.TLS) throws(TransportError) {
    for path in [paths.certificatePath, paths.keyPath] {
      if let reason = Listener.unreadable(path) {
        throw .certificate(path: path, reason: reason)
      }
    }
    guard let handle = parley_tls_create(paths.certificatePath, paths.keyPath) else {
      throw Self.misfit(paths)
    }
    self.handle = handle
    self.paths = paths
  }

  deinit { parley_tls_destroy(handle) }

  /// Reloads the files for new connections. Returns an error if they are unusable.
  func reload() -> TransportError? {
    parley_tls_reload(handle) == 0 ? nil : Self.misfit(paths)
  }

  /// Starts TLS on a socket.
  func open(_ descriptor: Int32) -> OpaquePointer? { parley_tls_open(handle, descriptor) }

  private static func misfit(
    _ paths: LibwebsocketsTransport.Configuration.TLS
  ) -> TransportError {
    .certificate(
      path: paths.certificatePath, reason: "it was not accepted together with \(paths.keyPath)")
  }
}
