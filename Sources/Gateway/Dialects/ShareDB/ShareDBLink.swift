import ParleyGatewayPorts
import ParleyShareDB

/// A connection of a ShareDB client: its requests that wait for documents.
///
/// A reference, owned by the dialect and confined to its loop.
final class ShareDBLink {
  /// A request that waits for its document.
  struct Waiting {
    enum Kind {
      /// A subscription, alone or as a part of a bulk request.
      case subscribe
      /// A request for the text, or for the changes since a version.
      case fetch
      /// A change of a document to which the client is not subscribed.
      case change(ShareDBChange)
      /// The creation of a document to which the client was already subscribed. It needs no reply.
      case creation
    }

    let document: ShareDBDocument
    let kind: Kind
    /// The version that the client has; `nil` if it needs the text.
    let version: Int?
    /// The bulk request of which it is a part.
    let bulk: Int?
  }

  /// A request about several documents, whose answer waits for all of them.
  struct Bulk {
    let action: ShareDBRequest.Action
    let collection: String
    let versions: [ShareDBRequest.Version]
    var waiting: Int
    var results: [ShareDBResult] = []
    /// Whether the client has versions of the documents, so that it is sent changes, not texts.
    let hasVersions: Bool
  }

  let connection: Connection
  /// The id of the connection for its own client: the client id, and the token that proves it.
  var source: String
  private var waiting: [String: Waiting] = [:]
  private var bulks: [Int: Bulk] = [:]
  private var nextNumber = 0
  /// Documents that do not exist, to which the client is subscribed.
  var missing: Set<DocumentID> = []
  /// Documents that the client has subscribed to or changed. It is sent their changes.
  var kept: Set<DocumentID> = []
  /// Channels whose presence the client receives, with the numbers of its requests.
  var channels: ExactDictionary<Int?> = [:]
  /// The last presences of the client.
  var presences: ExactDictionary<ShareDBPresence> = [:]

  init(_ connection: Connection, source: String) {
    self.connection = connection
    self.source = source
  }

  /// The number of requests that wait for documents.
  var waitingCount: Int { waiting.count }

  /// Adds a request, and returns the name under which its document answers.
  func add(_ request: Waiting) -> String {
    nextNumber += 1
    let name = "\(nextNumber)"
    waiting[name] = request
    return name
  }

  /// Removes and returns a request.
  func take(_ name: String) -> Waiting? { waiting.removeValue(forKey: name) }

  /// Adds a bulk request, and returns its number.
  func add(_ bulk: Bulk) -> Int {
    nextNumber += 1
    bulks[nextNumber] = bulk
    return nextNumber
  }

  /// Records the result for one document of a bulk request.
  ///
  /// - Returns: The bulk request, if it was the last result.
  func finish(_ number: Int, _ result: ShareDBResult) -> Bulk? {
    guard var bulk = bulks[number] else { return nil }
    bulk.waiting -= 1
    bulk.results.append(result)
    bulks[number] = bulk.waiting > 0 ? bulk : nil
    return bulk.waiting > 0 ? nil : bulk
  }
}
