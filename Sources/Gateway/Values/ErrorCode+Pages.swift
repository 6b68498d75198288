import SocketMessages

extension ErrorCode {
  /// The message with this code, for a client that reads pages of a document's changes.
  var wordsForReader: String {
    switch self {
    case .epochChanged: "the document has another history now; join it with its text"
    case .futureRevision: "the revision does not exist; join the document"
    case .historyGone: "the changes after that revision are no longer stored; join the document"
    default: "older changes cannot be read now; try again"
    }
  }
}
