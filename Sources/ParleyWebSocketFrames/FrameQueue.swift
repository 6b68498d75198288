/// The outgoing frames of one connection, oldest first.
///
/// Frames are sent in as few writes as possible: small ones are joined, long ones are written
/// without a copy. A full socket may accept only a part of a frame.
public struct FrameQueue {
  /// The result of queueing a frame.
  public enum Admission: Sendable, Hashable {
    /// The frame will be sent.
    case queued
    /// The frame was dropped: the queue would hold more than `bytesMax`.
    case full
  }

  /// Maximum unsent bytes.
  public let bytesMax: Int
  /// The number of unsent bytes.
  public private(set) var byteCount = 0

  private var frames: [Frame] = []
  private var head = 0
  /// The number of sent bytes of the first frame.
  private var sentOfFirst = 0

  // Queued pongs. A peer that pings faster than it reads receives only the latest ones.
  private var pongCount = 0
  private var lastPong = 0
  /// The number of frames removed from the front of `frames` so far.
  private var removedCount = 0

  /// Maximum queued pongs; a further one replaces the latest (RFC 6455, section 5.5.3).
  public static let pongsMax = 64

  /// Creates an empty queue.
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

  /// Queues a pong, or replaces the latest one if `pongsMax` pongs are queued.
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

  /// Removes all frames of which nothing was sent.
  ///
  /// The rest of a partly sent frame remains, so that the peer can read later frames.
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

  /// Offers the next bytes to a socket once, and removes those that it accepted.
  ///
  /// - Parameters:
  ///   - scratch: A buffer in which small frames are joined; its size limits a joined write.
  ///   - atMost: Maximum bytes to offer.
  ///   - write: Sends bytes, and returns how many were accepted.
  /// - Returns: The result of `write`; 0 if the queue is empty.
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
        // An idle connection retains no capacity; a busy one retains a little.
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
