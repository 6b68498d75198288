import ParleyGatewayPorts
import SocketMessages

/// The owner of the documents: requests over HTTP, and the list of notes.
protocol DocumentsOwner: AnyObject {
  /// Handles a note that was created by joining it.
  func noteListChanged()
  /// Returns an identity with its current rights; `nil` if its token is no longer valid.
  func current(_ identity: Identity) -> Identity?
  /// Handles a connection that may no longer read a note after a move.
  func lostReading(_ connection: Connection)
  /// Lets the store name a revision of a document whose epoch is now known.
  func save(_ naming: VersionNaming, epoch: Epoch, of id: DocumentID)
}

/// The stored answers to edits over HTTP.
protocol EditAnswers: AnyObject {
  /// Returns a commit that also stores the answers to edits, and the requests whose answers it
  /// stores.
  func keepingAnswers(
    of append: StoreRequest, to edits: [(request: RequestID, revision: Int)]
  ) -> (work: StoreRequest, kept: [RequestID])
  /// Answers a request with the answer that another node has stored.
  func answerFromStore(_ request: RequestID)
}
