import ParleyGatewayPorts
import OTCore

/// The work on documents that one turn of the loop may do, and the documents that rest until another one.
///
/// A turn does all that it brings, however much it is, as long as each piece is small: thousands of letters
/// are. A large piece, such as a whole text, is begun only while something of the turn's work is left and
/// no document rests. Otherwise it waits with its document until the end of a turn, and others continue
/// meanwhile:
///
///     large piece ─▶ rest(document) ─▶ turn ends: next() ─▶ its waiting work ─▶ rest(document), if more is left
///
/// A turn thus does its work and, beyond that, a part of one piece, and at its end at least one of those that
/// rested when it began. Work is counted in bytes of text that are compared, copied, put into a document or encoded;
/// see ``LiveDocument/work(on:from:)`` and ``DocumentRoom/textWork(of:by:)``.
struct TurnWork {
  private let most: Int
  /// Work that is left for this turn; below zero if the last piece was larger than that.
  private var left: Int
  /// Documents with work that waits for a turn, in the order of their turns.
  private var resting: [DocumentRoom] = []
  private let sum = WaitingQueue.Sum()
  /// Whether documents rested when the turn began, of which none has continued yet.
  private var owesTurn = false
  /// Whether documents that rested are continuing.
  private var isGoingOn = false

  /// - Parameter most: Work of a turn.
  init(most: Int) {
    self.most = most
    left = most
  }

  /// Whether documents rest.
  var isLeft: Bool { !resting.isEmpty }

  /// The approximate bytes that wait in resting documents.
  var restingBytes: Int { sum.bytes }

  /// Whether a piece may be done now.
  func allows(_ piece: @autoclosure () -> Int) -> Bool {
    left > 0 && (isGoingOn || resting.isEmpty) || piece() <= most / 64
  }

  /// Takes note of a piece that is being done.
  mutating func spend(_ piece: Int) { left -= piece }

  /// Defers a document's work to the end of a turn: later work for it waits behind.
  mutating func rest(_ room: DocumentRoom) {
    guard !room.waiting.isResting else { return }
    room.waiting.rest(countedIn: sum)
    resting.append(room)
  }

  /// The next document that continues at the end of this turn; `nil` if nothing of the turn's work is left
  /// for it.
  mutating func next() -> DocumentRoom? {
    if owesTurn { left = max(left, 1) }
    owesTurn = false
    isGoingOn = left > 0 && !resting.isEmpty
    guard isGoingOn else { return nil }
    let room = resting.removeFirst()
    room.waiting.endRest()
    return room
  }

  /// Begins the work of another turn.
  mutating func begin() {
    left = most
    owesTurn = !resting.isEmpty
  }
}
