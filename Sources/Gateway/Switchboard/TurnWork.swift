import GatewayPorts
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
  /// The approximate bytes that wait in resting documents, over all of them.
  final class Sum {
    var bytes = 0
  }

  private let most: Int
  /// Work that is left for this turn; below zero if the last piece was larger than that.
  private var left: Int
  /// Documents with work that waits for a turn, in the order of their turns.
  private var resting: [DocumentRoom] = []
  private let sum = Sum()
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
    guard !room.isResting else { return }
    room.rest(countedIn: sum)
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
    room.endRest()
    return room
  }

  /// Begins the work of another turn.
  mutating func begin() {
    left = most
    owesTurn = !resting.isEmpty
  }
}

extension DocumentRoom.Waiting {
  /// Bytes that any of them takes, beside text and components.
  private static let bytesOfEach = 256

  /// The approximate bytes that it holds.
  var byteCount: Int {
    switch self {
    case .join, .page, .version: Self.bytesOfEach
    case .change(_, _, let submission): Self.bytesOfEach + submission.operation.work
    case .edit(let edit):
      switch edit.content {
      case .text(let text, let base):
        Self.bytesOfEach + text.utf8.count + (base?.text.utf8.count ?? 0)
      case .change(let operation, _): Self.bytesOfEach + operation.work
      }
    }
  }

  /// The approximate work of it, if it is a change. That of a join depends on its connection.
  func work(in live: LiveDocument) -> Int {
    switch self {
    case .join, .page, .version: 0
    case .change(_, _, let submission):
      live.work(on: submission.operation, from: submission.revision)
    case .edit(let edit): edit.work(in: live)
    }
  }
}

extension DocumentRoom.ServerEdit {
  /// The approximate work of it: to find what a text changes, or to apply a change.
  func work(in live: LiveDocument) -> Int {
    switch content {
    case .text(let text, let base):
      text.utf8.count + (base?.text.utf8.count ?? live.durableDocument.utf8Count)
    case .change(let operation, let revision): live.work(on: operation, from: revision)
    }
  }
}
