/// Unsent bytes of one socket, in pieces that may be shared, and the deadline for the peer to read.
struct OutputQueue {
  private var pieces: [[UInt8]] = []
  private var head = 0
  private var sentOfFirst = 0
  private(set) var byteCount = 0
  /// Maximum milliseconds for the peer to read each 64 KiB, or the rest.
  private let milliseconds: Int64
  /// The time by which the peer has to read them; `nil` if nothing is unsent.
  private(set) var deadline: Int64?
  private var sentSinceDeadline = 0

  init(milliseconds: Int64) { self.milliseconds = milliseconds }

  var isEmpty: Bool { byteCount == 0 }

  mutating func append(_ piece: [UInt8], now: Int64) {
    guard !piece.isEmpty else { return }
    if isEmpty { restartDeadline(now) }
    pieces.append(piece)
    byteCount += piece.count
  }

  mutating func removeAll() {
    pieces = []
    head = 0
    sentOfFirst = 0
    byteCount = 0
    deadline = nil
  }

  private mutating func restartDeadline(_ now: Int64) {
    deadline = now + milliseconds
    sentSinceDeadline = 0
  }

  /// Offers the next bytes once, small pieces joined, and removes those that were accepted.
  mutating func writeNext(
    joiningIn scratch: UnsafeMutableRawBufferPointer, atMost: Int, now: Int64,
    _ write: (UnsafeRawBufferPointer) -> Int
  ) -> Int {
    guard head < pieces.count, atMost > 0 else { return 0 }
    let left = pieces[head].count - sentOfFirst
    let room = min(scratch.count, atMost)
    let offered: Int
    let taken: Int
    if head + 1 == pieces.count || left >= room {
      offered = min(left, atMost)
      taken = pieces[head].withUnsafeBytes {
        write(UnsafeRawBufferPointer(rebasing: $0[sentOfFirst..<(sentOfFirst + offered)]))
      }
    } else {
      // A joined write may contain a part of a piece, to fill the buffer.
      var filled = 0
      var skipped = sentOfFirst
      var index = head
      while index < pieces.count, filled < room {
        let count = min(pieces[index].count - skipped, room - filled)
        pieces[index].withUnsafeBytes {
          guard let from = $0.baseAddress, let to = scratch.baseAddress else { return }
          (to + filled).copyMemory(from: from + skipped, byteCount: count)
        }
        filled += count
        skipped = 0
        index += 1
      }
      offered = filled
      taken = write(UnsafeRawBufferPointer(rebasing: scratch[..<filled]))
    }
    precondition(taken <= offered, "more was taken than was offered")
    guard taken > 0 else { return taken }
    advance(by: taken)
    sentSinceDeadline += taken
    if isEmpty {
      deadline = nil
    } else if sentSinceDeadline >= 64 << 10 {
      restartDeadline(now)
    }
    return taken
  }

  private mutating func advance(by count: Int) {
    byteCount -= count
    var count = count + sentOfFirst
    while head < pieces.count, count >= pieces[head].count {
      count -= pieces[head].count
      // Release the sent piece.
      pieces[head] = []
      head += 1
    }
    sentOfFirst = count
    if head == pieces.count {
      pieces = []
      head = 0
    } else if head >= 64, head * 2 > pieces.count {
      pieces.removeFirst(head)
      head = 0
    }
  }
}
