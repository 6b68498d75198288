import ParleyGatewayPorts

/// Work with folders that a request asks for, until the store has answered.
enum FolderWork {
  /// Listing folders.
  case list(FolderPage)
  /// Moving a folder.
  case moveAll
}

/// A page of folders, which the store counts step by step, so that other reads have their turn in between.
struct FolderPage {
  /// The work of a step, in notes that are looked at: about a millisecond.
  static var stepWork: Int { 500 }
  /// The number of steps after which a page ends with the folder under way, however few folders it has.
  private static var stepsMax: Int { 200 }

  let identity: Identity
  let reader: ListReader
  /// The number of folders of the page at most.
  let limit: Int
  /// The folders that were found.
  private(set) var found: [FolderCount] = []
  private var steps = 0

  /// Begins a page.
  init(identity: Identity, limit: Int, for reader: ListReader) {
    self.identity = identity
    self.reader = reader
    self.limit = limit
  }

  /// The request for the next step.
  func step(after place: FolderPlace?) -> FolderRequest {
    .list(
      after: place, limit: limit - found.count, counting: FolderCounting(of: identity),
      work: Self.stepWork)
  }

  /// Takes the folders of a step.
  ///
  /// - Returns: Whether another step belongs to the page.
  mutating func take(_ folders: [FolderCount], next: FolderPlace?) -> Bool {
    found += folders
    steps += 1
    guard let next else { return false }
    return next.partial != nil || found.count < limit && steps < Self.stepsMax
  }
}
