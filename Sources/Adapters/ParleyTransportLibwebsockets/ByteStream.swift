import CParleyLibwebsocketsShim
import Glibc

/// A connected, non-blocking socket, plain or encrypted.
///
/// It stores the socket's last reported state: whether there may be bytes to read, and whether
/// there may be room to write. As in `Session`, properties used by each write are not checked for
/// overlapping accesses.
final class ByteStream {
  /// The result of a read.
  enum Reading {
    /// This number of bytes was read.
    case bytes(Int)
    /// There are no bytes now; an event reports more.
    case blocked
    /// The peer has closed its side properly.
    case ended
    /// The socket has failed.
    case failed
  }

  private(set) var descriptor: Int32
  /// Whether there may be bytes to read.
  @exclusivity(unchecked) private(set) var mayRead = false
  /// Whether there may be room to write.
  @exclusivity(unchecked) private(set) var mayWrite = false
  private(set) var isHungUp = false
  /// Whether nothing more can be sent to the peer.
  private(set) var hasFailed = false

  @exclusivity(unchecked) private var ssl: OpaquePointer?
  /// Whether the TLS handshake is not complete.
  private(set) var isShaking = false
  private var hasEndedSending = false
  /// Bytes of a record that OpenSSL has encrypted and not sent; the next write starts with them.
  @exclusivity(unchecked) private var held: [UInt8] = []

  /// Maximum plaintext bytes of a TLS record.
  private static let recordBytesMax = 16 << 10

  /// Takes ownership of a connected, non-blocking socket.
  init?(descriptor: Int32, tls: TLSContext?) {
    self.descriptor = descriptor
    guard let tls else { return }
    guard let ssl = tls.open(descriptor) else {
      // The caller still owns the descriptor.
      self.descriptor = -1
      return nil
    }
    self.ssl = ssl
    isShaking = true
  }

  deinit { close() }

  var isEncrypted: Bool { ssl != nil }

  /// Bytes that count as written, but were not accepted by the socket.
  var heldByteCount: Int { held.count }

  func note(_ events: Poller.Events) {
    if events.isReadable { mayRead = true }
    if events.hasRoom { mayWrite = true }
    if events.isHungUp { isHungUp = true }
    if events.isFailure { hasFailed = true }
  }

  /// Continues the TLS handshake. Returns whether the stream may remain open.
  func shake() -> Bool {
    guard isShaking, let ssl else { return true }
    switch parley_tls_shake(ssl) {
    case 1:
      isShaking = false
      mayRead = true
    case Int32(PARLEY_TLS_AGAIN): mayRead = false
    default: return false
    }
    return true
  }

  /// Reads once.
  func read(into room: UnsafeMutableRawBufferPointer) -> Reading {
    if let ssl { return readEncrypted(ssl, into: room) }
    let count = recv(descriptor, room.baseAddress, room.count, 0)
    if count > 0 {
      // A short read has emptied the socket, except for the end of the stream.
      if count < room.count, !isHungUp { mayRead = false }
      return .bytes(count)
    }
    mayRead = false
    if count == 0 { return .ended }
    if errno == EINTR {
      mayRead = true
      return .blocked
    }
    return parley_would_block(errno) != 0 ? .blocked : .failed
  }

  private func readEncrypted(
    _ ssl: OpaquePointer, into room: UnsafeMutableRawBufferPointer
  ) -> Reading {
    guard let base = room.baseAddress else { return .failed }
    let count = parley_tls_read(ssl, base, Int32(clamping: room.count))
    if count > 0 { return .bytes(Int(count)) }
    mayRead = false
    switch count {
    case Int32(PARLEY_TLS_AGAIN): return .blocked
    case Int32(PARLEY_TLS_ENDED): return .ended
    default: return .failed
    }
  }

  /// Copies the first unread bytes of TCP without consuming them.
  func peek(into room: UnsafeMutableRawBufferPointer) -> Reading {
    let count = recv(descriptor, room.baseAddress, room.count, Int32(MSG_PEEK))
    // Wait for the next event, unless the caller consumes the bytes.
    mayRead = false
    if count > 0 { return .bytes(count) }
    if count == 0 { return .ended }
    return errno == EINTR || parley_would_block(errno) != 0 ? .blocked : .failed
  }

  /// Consumes peeked bytes of TCP.
  func skip(_ count: Int, using room: UnsafeMutableRawBufferPointer) -> Bool {
    mayRead = true
    return recv(descriptor, room.baseAddress, count, 0) == count
  }

  /// Whether the peer has closed its side, and all bytes are read.
  var isAtEnd: Bool {
    guard isHungUp else { return false }
    if let ssl { return parley_tls_is_at_end(ssl) != 0 }
    var byte: UInt8 = 0
    let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK))
    return count == 0 || count < 0 && parley_would_block(errno) == 0
  }

  /// Writes once. Returns the number of accepted bytes, or -1 if the socket has failed.
  ///
  /// - Parameters:
  ///   - bytes: The next bytes.
  ///   - mayHold: Whether a TLS record without room in the socket is stored here and counts as
  ///     accepted. If not, the next call has to start with the same bytes.
  func write(_ bytes: UnsafeRawBufferPointer, mayHold: Bool) -> Int {
    if let ssl { return writeEncrypted(ssl, bytes, mayHold) }
    let count = parley_send(descriptor, bytes.baseAddress, bytes.count)
    if count >= 0 {
      if count < bytes.count { mayWrite = false }
      return count
    }
    mayWrite = false
    if errno == EINTR {
      mayWrite = true
      return 0
    }
    return parley_would_block(errno) != 0 ? 0 : -1
  }

  private func writeEncrypted(
    _ ssl: OpaquePointer, _ bytes: UnsafeRawBufferPointer, _ mayHold: Bool
  ) -> Int {
    guard flushHeld() else { return -1 }
    guard held.isEmpty, let base = bytes.baseAddress, bytes.count > 0 else { return 0 }
    let count = min(bytes.count, Self.recordBytesMax)
    let sent = parley_tls_write(ssl, base, Int32(count))
    if sent > 0 { return Int(sent) }
    mayWrite = false
    guard sent == Int32(PARLEY_TLS_AGAIN) else { return -1 }
    guard mayHold else { return 0 }
    // OpenSSL has encrypted the record, so these bytes must be sent before any others.
    held = Array(bytes[..<count])
    return count
  }

  /// Writes held bytes. Returns whether the socket is usable.
  func flushHeld() -> Bool {
    guard let ssl else { return true }
    while !held.isEmpty, mayWrite {
      let sent = held.withUnsafeBytes { bytes in
        bytes.baseAddress.map { parley_tls_write(ssl, $0, Int32(bytes.count)) } ?? 0
      }
      // A client may require records so short that this takes several writes.
      if sent > 0 {
        held.removeFirst(Int(sent))
      } else {
        mayWrite = false
        guard sent == Int32(PARLEY_TLS_AGAIN) else { return false }
      }
    }
    return true
  }

  /// Shuts down the sending side; reading is still possible.
  func endSending() {
    guard !hasEndedSending else { return }
    hasEndedSending = true
    if let ssl, !isShaking { parley_tls_end(ssl) }
    shutdown(descriptor, Int32(SHUT_WR))
  }

  func close() {
    guard descriptor >= 0 else { return }
    if let ssl {
      if !isShaking, !isHungUp, !hasEndedSending { parley_tls_end(ssl) }
      parley_tls_close(ssl)
    }
    ssl = nil
    held = []
    _ = Glibc.close(descriptor)
    descriptor = -1
  }
}
