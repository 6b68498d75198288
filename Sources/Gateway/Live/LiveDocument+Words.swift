import OTCore
import SocketMessages

extension LiveDocument.Refusal {
  /// Returns the error code and message: what was expected, what was received, what to do.
  ///
  /// - Parameter sequence: The author's sequence number of the change.
  func words(sequence: Int) -> (ErrorCode, String) {
    switch self {
    case .futureRevision(let head):
      (.futureRevision, "the base revision is ahead of the head, \(head); join again")
    case .negativeRevision: (.negativeRevision, "revisions count from 0; join again")
    case .outdated(let head):
      (.outdated, "the newest revision is \(head); rebase, and send it again")
    case .lengthMismatch(let expected, let found):
      (
        .lengthMismatch,
        "the document has \(expected) scalars at that revision, the operation starts from "
          + "\(found); rebase and send again"
      )
    case .sequenceReused(let last):
      (
        .sequenceReused,
        "sequence \(sequence) was used for another change; the last one is \(last)"
      )
    case .sequenceGap(let expected):
      (.sequenceGap, "expected sequence \(expected), received \(sequence); send \(expected) first")
    case .inFlight:
      (.busy, "the previous change is not acknowledged yet; send this one after it")
    case .tooManyComponents(let componentsMax):
      (
        .tooLarge,
        "an operation may have \(componentsMax) components, this one has more; "
          + "send it in smaller pieces"
      )
    case .documentFull(let scalarsMax):
      (.tooLarge, "the document may have at most \(scalarsMax) scalars; delete text first")
    case .plainNote:
      (
        .notAllowed,
        "the note is a plain one, which has no formatting; make it a rich one with kind in the format"
      )
    case .formatsUnknown:
      (.notAllowed, "join the document with formats before you send formatting")
    case .operation(.tooManySets(let max)):
      (
        .tooLarge,
        "the document may have \(max) different sets of attributes; remove some formatting first"
      )
    case .operation(.tooManyRuns(let max)):
      (
        .tooLarge,
        "the document may have \(max) pieces of text with different attributes; remove some first"
      )
    case .operation(.tooManyKeys(let max)):
      (.tooLarge, "a piece of text may have \(max) attributes; remove some of them first")
    case .operation(let error): (.badOperation, "\(error)")
    }
  }
}
