/// Outgoing frames of one connection, oldest first.
///
/// Frames leave in as few writes as possible: small ones are joined, a long one is written from
/// where it is. A socket that is full may cut a frame.
public struct FrameQueue {
  /// The result of queueing a frame.
  public enum Admission: Sendable, Hashable {
    /// The frame will be sent.
    case queued
    /// The frame was dropped: the queue would hold more than `bytesMax`.
    case full
  }

  /// The largest number of bytes that may wait.
  public let bytesMax: Int
  /// The number of bytes that wait.
  public private(set) var byteCount = 0

  private var frames: [Frame] = []
  private var head = 0
  /// Bytes of the first frame that are sent.
  private var sentOfFirst = 0

  // Pongs that wait: a peer that pings faster than it reads gets only the latest of them.
  private var pongCount = 0
  private var lastPong = 0
  /// The number of frames that have ever left the front of `frames`.
  private var removedCount = 0

  /// The largest number of pongs that may wait; a further one replaces the latest (RFC 6455,
  /// section 5.5.3).
  public static let pongsMax = 64

  /// Makes an empty queue.
  public init(bytesMax: Int) { self.bytesMax = bytesMax }

  /// Whether the queue is empty.
  public var isEmpty: Bool { byteCount == 0 }

  /// Queues a frame.
  public mutating func append(_ frame: Frame) -> Admission {
    guard frame.byteCount <= bytesMax - byteCount else { return .full }
    frames.append(frame)
    byteCount += frame.byteCount
    return .queued
  }

  /// Queues a pong, or replaces the latest one when too many wait.
  public mutating func append(pong frame: Frame) -> Admission {
    let index = lastPong - removedCount
    if pongCount >= Self.pongsMax, index > head || index == head && sentOfFirst == 0 {
      byteCount += frame.byteCount - frames[index].byteCount
      frames[index] = frame
      return .queued
    }
    guard append(frame) == .queued else { return .full }
    pongCount += 1
    lastPong = removedCount + frames.count - 1
    return .queued
  }

  /// Drops everything that has not begun to be sent.
  ///
  /// The rest of a frame that was cut stays, so that the peer can read what follows it.
  public mutating func removeUnsent() {
    guard head < frames.count else { return }
    let first = frames[head]
    removedCount += frames.count
    frames = []
    head = 0
    pongCount = 0
    byteCount = 0
    guard sentOfFirst > 0 else { return }
    removedCount -= 1
    frames = [first]
    byteCount = first.byteCount - sentOfFirst
  }

  /// Offers the next bytes to a socket once, and removes those that it took.
  ///
  /// - Parameters:
  ///   - scratch: Where small frames are joined; its size bounds a joined write.
  ///   - atMost: The most bytes to offer.
  ///   - write: Sends bytes and returns how many were taken.
  /// - Returns: What `write` returned; 0 if nothing waits.
  public mutating func writeNext(
    joiningIn scratch: UnsafeMutableRawBufferPointer, atMost: Int = .max,
    _ write: (UnsafeRawBufferPointer) -> Int
  ) -> Int {
    guard head < frames.count else { return 0 }
    let first = frames[head]
    let left = first.byteCount - sentOfFirst
    let joinedMax = min(scratch.count, atMost)
    let taken: Int
    if head + 1 == frames.count || left + frames[head + 1].byteCount > joinedMax {
      let offered = min(left, atMost)
      taken = first.withUnsafeBytes {
        write(UnsafeRawBufferPointer(rebasing: $0[sentOfFirst..<sentOfFirst + offered]))
      }
      precondition(taken <= offered, "more was taken than was offered")
    } else {
      var filled = 0
      var skipped = sentOfFirst
      var index = head
      while index < frames.count {
        let count = frames[index].byteCount - skipped
        if filled + count > joinedMax { break }
        frames[index].withUnsafeBytes {
          guard let from = $0.baseAddress, let to = scratch.baseAddress else { return }
          (to + filled).copyMemory(from: from + skipped, byteCount: count)
        }
        filled += count
        skipped = 0
        index += 1
      }
      taken = write(UnsafeRawBufferPointer(rebasing: scratch[..<filled]))
      precondition(taken <= filled, "more was taken than was offered")
    }
    if taken > 0 { advance(by: taken) }
    return taken
  }

  private mutating func advance(by count: Int) {
    byteCount -= count
    var count = count + sentOfFirst
    while head < frames.count, count >= frames[head].byteCount {
      count -= frames[head].byteCount
      if pongCount > 0, head + removedCount == lastPong { pongCount = 0 }
      head += 1
    }
    sentOfFirst = count
    if head == frames.count {
      removedCount += head
      if head == 1 {
        frames.removeLast()
      } else {
        // An idle connection keeps no room; a busy one keeps a little.
        frames.removeAll(keepingCapacity: head <= 8)
      }
      head = 0
    } else if head >= 64, head * 2 > frames.count {
      removedCount += head
      frames.removeFirst(head)
      head = 0
    }
  }
}
