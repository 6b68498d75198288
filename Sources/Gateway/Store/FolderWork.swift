import ParleyGatewayPorts

/// Work on folders that waits for the store.
enum FolderWork {
  /// Listing folders.
  case list(FolderPage)
  /// Moving a folder.
  case moveAll
}

/// A page of folders. The store counts in steps, so that other reads run in between.
struct FolderPage {
  /// Notes examined per step: about a millisecond of work.
  static var stepWork: Int { 500 }
  /// Maximum steps of a page. The page then ends with the current folder, even if it has few.
  private static var stepsMax: Int { 200 }

  let identity: Identity
  let reader: ListReader
  /// Maximum folders of the page.
  let limit: Int
  /// The folders found so far.
  private(set) var found: [FolderCount] = []
  private var steps = 0

  /// Creates an empty page.
  init(identity: Identity, limit: Int, for reader: ListReader) {
    self.identity = identity
    self.reader = reader
    self.limit = limit
  }

  /// Returns the request for the next step.
  func step(after place: FolderListPosition?) -> FolderRequest {
    .list(
      after: place, limit: limit - found.count, counting: FolderCounting(of: identity),
      work: Self.stepWork)
  }

  /// Adds the folders of a step.
  ///
  /// - Returns: Whether the page needs another step.
  mutating func take(_ folders: [FolderCount], next: FolderListPosition?) -> Bool {
    found += folders
    steps += 1
    guard let next else { return false }
    return next.partial != nil || found.count < limit && steps < Self.stepsMax
  }
}
