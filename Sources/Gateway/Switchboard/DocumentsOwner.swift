import ParleyGatewayPorts
import SocketMessages

/// Requests over HTTP and the list of notes, as documents see them.
protocol DocumentsOwner: AnyObject {
  /// A note was made by joining it.
  func noteListChanged()
  /// An identity with its present rights; `nil` if its token is no longer valid.
  func current(_ identity: Identity) -> Identity?
  /// A connection has lost the right to read a note that was moved.
  func lostReading(_ connection: Connection)
  /// Has the store name a revision of a document whose epoch is known now.
  func save(_ naming: VersionNaming, epoch: String, of id: DocumentID)
  /// The commit of a document's entries, with the answers to edits that are to be kept, and the requests
  /// that they answer.
  func keepingAnswers(
    of append: StoreRequest, to edits: [(request: RequestID, revision: Int)]
  ) -> (work: StoreRequest, kept: [RequestID])
  /// Answers a request with what another node has kept for it.
  func answerFromStore(_ request: RequestID)
}
