import CLibwebsockets
import Glibc

/// What the library is given by pointer and keeps: freed after its context.
final class LibraryMemory {
  let contextCell = UnsafeMutablePointer<OpaquePointer?>.allocate(capacity: 1)
  let noPolicy = UnsafeMutablePointer<lws_retry_bo_t>.allocate(capacity: 1)
  private let loops = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: 1)
  private var table: UnsafeMutablePointer<lws_protocols>?
  private var strings: [UnsafeMutablePointer<CChar>] = []

  init() {
    contextCell.initialize(to: nil)
    // All zero: no pings and no hang-ups of the library's own.
    noPolicy.initialize(to: lws_retry_bo_t())
    loops.initialize(to: nil)
  }

  deinit {
    contextCell.deallocate()
    noPolicy.deallocate()
    loops.deallocate()
    table?.deallocate()
    for string in strings { free(string) }
  }

  func string(_ text: String) -> UnsafePointer<CChar>? {
    guard let copy = strdup(text) else { return nil }
    strings.append(copy)
    return UnsafePointer(copy)
  }

  func foreignLoops(
    _ loop: UnsafeMutableRawPointer
  ) -> UnsafeMutablePointer<UnsafeMutableRawPointer?> {
    loops.pointee = loop
    return loops
  }

  /// The first protocol serves HTTP and clients that offer no subprotocol.
  func protocols(
    _ configuration: LibwebsocketsTransport.Configuration
  ) -> UnsafeMutablePointer<lws_protocols> {
    let names = [Loop.plainProtocol] + configuration.subprotocols
    let table = UnsafeMutablePointer<lws_protocols>.allocate(capacity: names.count + 1)
    for (index, name) in names.enumerated() {
      var entry = lws_protocols()
      entry.name = string(name)
      entry.callback = transportCallback
      entry.rx_buffer_size = configuration.receiveBufferBytes
      entry.tx_packet_size = 128 << 10
      (table + index).initialize(to: entry)
    }
    (table + names.count).initialize(to: lws_protocols())
    self.table = table
    return table
  }
}
