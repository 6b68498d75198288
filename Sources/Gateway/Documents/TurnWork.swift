import ParleyGatewayPorts
import OTCore

/// The work on documents in one turn of the loop, and the documents that rest until another turn.
///
/// Small pieces, such as thousands of typed letters, are all done in the turn in which they arrive.
/// A large piece, such as a whole text, begins only while some of the turn's work is left and no
/// document rests. Otherwise it waits with its document until the end of a turn, and other
/// documents continue meanwhile:
///
///     large piece ─▶ rest(document) ─▶ turn ends: next() ─▶ its waiting work ─▶ rest(document), if more is left
///
/// So a turn exceeds its work by at most one piece, and at its end at least one of the documents
/// that rested at its beginning continues. The unit of work is one byte of text that is compared,
/// copied, inserted or encoded; see ``LiveDocument/work(on:from:)`` and
/// ``DocumentRoom/textWork(of:by:)``.
struct TurnWork {
  private let most: Int
  /// The work left in this turn; negative if the last piece exceeded it.
  private var left: Int
  /// Documents with deferred work, in the order in which they continue.
  private var resting: [DocumentRoom] = []
  private let sum = WaitingQueue.Sum()
  /// Whether documents rested when the turn began and none of them has continued yet.
  private var hasUnservedRest = false
  /// Whether resting documents are continuing now, at the end of the turn.
  private var isContinuing = false

  /// - Parameter most: The work of one turn.
  init(most: Int) {
    self.most = most
    left = most
  }

  /// Whether documents rest.
  var isLeft: Bool { !resting.isEmpty }

  /// The approximate bytes of work that waits in resting documents.
  var restingBytes: Int { sum.bytes }

  /// Whether a piece may begin now. A small piece always may.
  func allows(_ piece: @autoclosure () -> Int) -> Bool {
    left > 0 && (isContinuing || resting.isEmpty) || piece() <= most / 64
  }

  /// Subtracts a piece that is being done.
  mutating func spend(_ piece: Int) { left -= piece }

  /// Defers a document's work to the end of a turn; later work queues behind it.
  mutating func rest(_ room: DocumentRoom) {
    guard !room.waiting.isResting else { return }
    room.waiting.rest(countedIn: sum)
    resting.append(room)
  }

  /// Returns the next document that continues at the end of this turn; `nil` if no document rests
  /// or no work is left.
  mutating func next() -> DocumentRoom? {
    if hasUnservedRest { left = max(left, 1) }
    hasUnservedRest = false
    isContinuing = left > 0 && !resting.isEmpty
    guard isContinuing else { return nil }
    let room = resting.removeFirst()
    room.waiting.endRest()
    return room
  }

  /// Begins another turn with its full work.
  mutating func begin() {
    left = most
    hasUnservedRest = !resting.isEmpty
  }
}
