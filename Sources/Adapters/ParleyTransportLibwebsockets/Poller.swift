import CParleyLibwebsocketsShim
import Glibc

/// An epoll instance, with a descriptor by which other threads wake it.
///
/// Sockets are registered edge-triggered, once in their lifetime. An event reports that a socket
/// became readable or writable, which it remains until a read or a write returns `EAGAIN`.
/// Bytes that remain unread cause no further event; the end of the connection causes one.
struct Poller: ~Copyable {
  /// A number that identifies a watched descriptor.
  typealias Key = UInt64

  struct Events {
    fileprivate let bits: UInt32
    var isReadable: Bool { bits & (EPOLLIN.rawValue | Self.ends) != 0 }
    var hasRoom: Bool { bits & EPOLLOUT.rawValue != 0 }
    /// Whether the peer has ended its side, or the socket has failed.
    var isHungUp: Bool { bits & Self.ends != 0 }

    /// Whether the socket has failed, or both its sides have ended.
    var isFailure: Bool { bits & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 }

    private static let ends = EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue
  }

  /// The key of the wake-up descriptor.
  static let wakeKey: Key = 0

  private let descriptor: Int32
  /// The descriptor that other threads write to, in order to end a wait.
  let wakeUp: Int32
  private let events = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: 256)

  /// Whether both descriptors were created and the wake-up descriptor is registered.
  let isOpen: Bool

  init() {
    descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
    wakeUp = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    var event = epoll_event()
    event.events = EPOLLIN.rawValue
    event.data.u64 = Self.wakeKey
    isOpen =
      descriptor >= 0 && wakeUp >= 0
      && epoll_ctl(descriptor, EPOLL_CTL_ADD, wakeUp, &event) == 0
  }

  deinit {
    if descriptor >= 0 { _ = close(descriptor) }
    if wakeUp >= 0 { _ = close(wakeUp) }
    events.deallocate()
  }

  /// Watches a connection's socket until it is closed.
  func watch(connection file: Int32, as key: Key) -> Bool {
    add(file, key, EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue)
  }

  /// Watches a listening socket until `unwatch`.
  func watch(listener file: Int32, as key: Key) { _ = add(file, key, EPOLLIN.rawValue) }

  func unwatch(_ file: Int32) {
    var event = epoll_event()
    epoll_ctl(descriptor, EPOLL_CTL_DEL, file, &event)
  }

  private func add(_ file: Int32, _ key: Key, _ bits: UInt32) -> Bool {
    var event = epoll_event()
    event.events = bits
    event.data.u64 = key
    return epoll_ctl(descriptor, EPOLL_CTL_ADD, file, &event) == 0
  }

  /// Waits for events, at most `milliseconds`, and passes each to `body`.
  @inline(__always)
  func wait(milliseconds: Int32, _ body: (Key, Events) -> Void) {
    let count = epoll_wait(descriptor, events.baseAddress, Int32(events.count), milliseconds)
    guard count > 0 else { return }
    for index in 0..<Int(count) {
      let key = events[index].data.u64
      if key == Self.wakeKey {
        var number: eventfd_t = 0
        eventfd_read(wakeUp, &number)
      }
      body(key, Events(bits: events[index].events))
    }
  }
}
