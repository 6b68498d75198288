import CParleyEpoll
import Glibc

/// An epoll instance. Each event carries the number that its descriptor was added with.
struct Poller: ~Copyable {
  private let descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
  private let events = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: 512)

  init() {
    guard descriptor >= 0 else { fail("epoll_create1: \(lastError())") }
  }

  deinit {
    close(descriptor)
    events.deallocate()
  }

  func add(_ file: Int32, as number: Int, writing: Bool) {
    change(EPOLL_CTL_ADD, file, number, writing)
  }

  func modify(_ file: Int32, as number: Int, writing: Bool) {
    change(EPOLL_CTL_MOD, file, number, writing)
  }

  private func change(_ operation: Int32, _ file: Int32, _ number: Int, _ writing: Bool) {
    var event = epoll_event()
    event.events = EPOLLIN.rawValue | (writing ? EPOLLOUT.rawValue : 0)
    event.data.u64 = UInt64(number)
    guard epoll_ctl(descriptor, operation, file, &event) == 0 else {
      fail("epoll_ctl: \(lastError())")
    }
  }

  /// Waits for events, then passes each ready descriptor's number to `body`.
  func wait(milliseconds: Int, _ body: (_ number: Int, _ isWritable: Bool) -> Void) {
    let count = epoll_wait(descriptor, events.baseAddress, Int32(events.count), Int32(milliseconds))
    guard count > 0 else { return }
    for index in 0..<Int(count) {
      body(Int(events[index].data.u64), events[index].events & EPOLLOUT.rawValue != 0)
    }
  }
}
