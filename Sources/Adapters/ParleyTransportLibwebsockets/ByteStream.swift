import CParleyLibwebsocketsShim
import Glibc

/// A connected socket, plain or encrypted, that never blocks.
///
/// It remembers what the socket last said: whether there may be bytes to read, and whether there is
/// room to write. As in `Session`, what each write touches is not checked for overlapping accesses.
final class ByteStream {
  /// The result of a read.
  enum Reading {
    /// So many bytes.
    case bytes(Int)
    /// No bytes at present; an event announces more.
    case blocked
    /// The peer has ended its side in order.
    case ended
    /// The socket is of no more use.
    case failed
  }

  private(set) var descriptor: Int32
  /// Whether a read may find something.
  @exclusivity(unchecked) private(set) var mayRead = false
  /// Whether a write may find room.
  @exclusivity(unchecked) private(set) var mayWrite = false
  private(set) var isHungUp = false
  /// Whether the peer can no longer be sent anything.
  private(set) var hasFailed = false

  @exclusivity(unchecked) private var ssl: OpaquePointer?
  /// Whether the handshake of TLS is still to be done.
  private(set) var isShaking = false
  private var hasEndedSending = false
  /// Bytes that OpenSSL has encrypted and the socket has not taken: the next write must begin with
  /// them.
  @exclusivity(unchecked) private var held: [UInt8] = []

  /// The longest record of TLS, in bytes of text.
  private static let recordBytesMax = 16 << 10

  /// Takes over a connected socket that does not block.
  init?(descriptor: Int32, tls: TLSContext?) {
    self.descriptor = descriptor
    guard let tls else { return }
    guard let ssl = tls.open(descriptor) else {
      // It stays its owner's.
      self.descriptor = -1
      return nil
    }
    self.ssl = ssl
    isShaking = true
  }

  deinit { close() }

  var isEncrypted: Bool { ssl != nil }

  /// Bytes that were taken and have not gone to the socket.
  var heldByteCount: Int { held.count }

  func note(_ events: Poller.Events) {
    if events.isReadable { mayRead = true }
    if events.hasRoom { mayWrite = true }
    if events.isHungUp { isHungUp = true }
    if events.isFailure { hasFailed = true }
  }

  /// Continues the handshake of TLS. Returns whether the stream may remain open.
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
      // Less than was asked for is all that there is, but for the end.
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

  /// Copies the first unread bytes of TCP, and leaves them unread.
  func peek(into room: UnsafeMutableRawBufferPointer) -> Reading {
    let count = recv(descriptor, room.baseAddress, room.count, Int32(MSG_PEEK))
    // In all other cases an event announces more.
    mayRead = false
    if count > 0 { return .bytes(count) }
    if count == 0 { return .ended }
    return errno == EINTR || parley_would_block(errno) != 0 ? .blocked : .failed
  }

  /// Reads bytes of TCP that were peeked at.
  func skip(_ count: Int, using room: UnsafeMutableRawBufferPointer) -> Bool {
    mayRead = true
    return recv(descriptor, room.baseAddress, count, 0) == count
  }

  /// Whether the peer has ended its side, and left nothing to read.
  var isAtEnd: Bool {
    guard isHungUp else { return false }
    if let ssl { return parley_tls_is_at_end(ssl) != 0 }
    var byte: UInt8 = 0
    let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK))
    return count == 0 || count < 0 && parley_would_block(errno) == 0
  }

  /// Writes once. Returns the number of bytes taken, or -1 for a socket of no more use.
  ///
  /// - Parameters:
  ///   - bytes: What comes next.
  ///   - mayHold: Whether a record of TLS that the socket has no room for is kept here and counts as
  ///     taken. If not, the same bytes have to come first in the next call.
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
    // The record is made: whatever is queued later, these bytes come first.
    held = Array(bytes[..<count])
    return count
  }

  /// Writes what was taken and has not gone. Returns whether the socket is of use.
  func flushHeld() -> Bool {
    guard let ssl else { return true }
    while !held.isEmpty, mayWrite {
      let sent = held.withUnsafeBytes { bytes in
        bytes.baseAddress.map { parley_tls_write(ssl, $0, Int32(bytes.count)) } ?? 0
      }
      // Clients may ask for records so short that it takes several.
      if sent > 0 {
        held.removeFirst(Int(sent))
      } else {
        mayWrite = false
        guard sent == Int32(PARLEY_TLS_AGAIN) else { return false }
      }
    }
    return true
  }

  /// Ends the sending side; what comes can still be read.
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
