public import OTCore
import ParleyJSON

/// The comments of one note, and access to its log. A store implements the access to its rows; the
/// extension implements the rules.
public protocol CommentLedger {
  /// The log's epoch.
  var epoch: Epoch { get }
  /// The oldest revision from which the log can be read.
  var base: Int { get }
  /// The log's newest revision.
  var head: Int { get }
  /// The folder that the note is in.
  var folder: FolderPath { get }

  /// Returns the text at a revision from ``base`` to ``head``.
  func text(at revision: Int) throws(StoreError) -> Document
  /// Reads the operations of revisions `after < revision <= through`, oldest first.
  func forEachOperation(
    after: Int, through: Int, _ body: (TextOperation) throws(StoreError) -> Void
  ) throws(StoreError)

  /// Returns all comments, unordered.
  func comments() throws(StoreError) -> [Comment]
  /// Returns the comment with an id; `nil` if missing.
  func comment(_ id: CommentID) throws(StoreError) -> Comment?
  /// Returns the number of comments.
  func count() throws(StoreError) -> Int
  /// Returns whether a thread has answers.
  func hasAnswers(_ thread: CommentID) throws(StoreError) -> Bool
  /// Stores a comment, or replaces the comment with its id.
  func keep(_ comment: Comment) throws(StoreError)
  /// Removes a comment.
  func remove(_ id: CommentID) throws(StoreError)
}

extension CommentLedger {
  /// Performs the work of a request.
  public func reply(to work: CommentRequest.Work) throws(StoreError) -> CommentReply {
    switch work {
    case .list(let revision): try list(at: revision)
    case .quote(let epoch, let anchor): try quote(anchor, epoch: epoch)
    case .add(let comment, let countMax): try add(comment, countMax: countMax)
    case .edit(let id, let text, let actor, let time): try edit(id, text, by: actor, time)
    case .resolve(let id, let isResolved, let actor, let time):
      try resolve(id, isResolved, by: actor, time)
    case .remove(let id, let actor): try remove(id, by: actor)
    }
  }

  // MARK: Reading

  private func list(at revision: Int?) throws(StoreError) -> CommentReply {
    if let revision, revision > head { return .futureRevision(head: head) }
    let revision = max(base, revision ?? head)
    var comments = try comments()
    comments.sort { $0.precedes($1) }
    try move(&comments, through: revision)
    return .list(
      CommentList(epoch: epoch, revision: revision, folder: folder, comments: comments))
  }

  /// Moves the anchors of older revisions to a revision.
  ///
  /// - Complexity: O(*operations* since the oldest anchor + *anchors*²). A store moves its anchors
  ///   whenever it folds a text from the log, which bounds the number of operations.
  private func move(_ comments: inout [Comment], through revision: Int) throws(StoreError) {
    for index in comments.indices {
      guard let anchor = comments[index].anchor, !anchor.isDeleted, anchor.revision < base else {
        continue
      }
      // An older version of the server, which does not move anchors, has compacted the log. The
      // range's current position is unknown.
      comments[index].anchor = CommentAnchor(revision: base, start: anchor.start, end: anchor.start)
    }
    let moving = comments.indices.filter { index in
      comments[index].anchor.map { !$0.isDeleted && $0.revision < revision } ?? false
    }
    guard !moving.isEmpty else { return }
    var anchors = MovingAnchors(moving.compactMap { comments[$0].anchor })
    try forEachOperation(after: anchors.first, through: revision) { anchors.pass($0) }
    for (index, anchor) in zip(moving, anchors.finished()) { comments[index].anchor = anchor }
  }

  /// Returns the comments whose anchors are older than a revision, with their anchors moved to it.
  public func moved(through revision: Int) throws(StoreError) -> [Comment] {
    var comments = try comments()
    comments.removeAll { comment in
      comment.anchor.map { $0.isDeleted || $0.revision >= revision } ?? true
    }
    try move(&comments, through: revision)
    return comments
  }

  /// Stores moved anchors, except of comments that were removed or moved further meanwhile.
  public func storeAnchors(of moved: [Comment]) throws(StoreError) {
    for former in moved {
      guard let anchor = former.anchor, var comment = try comment(former.id),
        let own = comment.anchor, !own.isDeleted, own.revision < anchor.revision
      else { continue }
      comment.anchor = anchor
      try keep(comment)
    }
  }

  private func quote(
    _ anchor: CommentAnchor, epoch asked: Epoch?
  ) throws(StoreError) -> CommentReply {
    if let asked, asked != epoch { return .otherEpoch }
    guard anchor.revision <= head else { return .futureRevision(head: head) }
    guard anchor.revision >= base else { throw .compacted(oldestRevision: base) }
    let text = try text(at: anchor.revision)
    guard 0 <= anchor.start, anchor.start < anchor.end, anchor.end <= text.scalarCount else {
      return .badRange(length: text.scalarCount)
    }
    let quote = text.text(
      in: anchor.start..<min(anchor.end, anchor.start + Comment.quoteScalarsMax))
    var moved = anchor
    try forEachOperation(after: anchor.revision, through: head) { moved.pass($0) }
    return .quoted(epoch: epoch, quote: quote, moved)
  }

  // MARK: Writing

  private func add(_ comment: Comment, countMax: Int) throws(StoreError) -> CommentReply {
    if let thread = comment.thread {
      guard let first = try self.comment(thread), first.thread == nil else {
        return .unknownComment
      }
    } else if let origin = comment.origin, let anchor = comment.anchor {
      guard origin.epoch == epoch else { return .otherEpoch }
      guard anchor.revision <= head else { return .futureRevision(head: head) }
      guard anchor.isDeleted || anchor.revision >= base else {
        throw .compacted(oldestRevision: base)
      }
    }
    let count = try count()
    guard count < countMax else { return .full(count: count) }
    try keep(comment)
    return .kept(comment)
  }

  private func edit(
    _ id: CommentID, _ text: String, by actor: ChangeActor, _ time: Timestamp
  ) throws(StoreError) -> CommentReply {
    guard var comment = try comment(id), !comment.isWithdrawn else { return .unknownComment }
    guard comment.isOf(actor.person) else { return .notOwn }
    if comment.text.isExactly(text) { return .unchanged(comment) }
    comment.text = text
    comment.editedAt = time
    try keep(comment)
    return .kept(comment)
  }

  private func resolve(
    _ id: CommentID, _ isResolved: Bool, by actor: ChangeActor, _ time: Timestamp
  ) throws(StoreError) -> CommentReply {
    guard var comment = try comment(id), comment.thread == nil else { return .unknownComment }
    guard isResolved != (comment.resolution != nil) else { return .unchanged(comment) }
    comment.resolution = isResolved ? Comment.Resolution(author: actor.name, time: time) : nil
    try keep(comment)
    return .kept(comment)
  }

  private func remove(_ id: CommentID, by actor: ChangeActor) throws(StoreError) -> CommentReply {
    guard var comment = try comment(id), !comment.isWithdrawn else { return .unknownComment }
    guard actor.manages || comment.isOf(actor.person) else { return .notOwn }
    if let thread = comment.thread {
      try remove(id)
      // A withdrawn thread exists only while it has answers.
      if let first = try self.comment(thread), first.isWithdrawn, try !hasAnswers(thread) {
        try remove(thread)
      }
    } else if try hasAnswers(id) {
      comment.text = ""
      comment.author = ""
      comment.person = nil
      comment.editedAt = nil
      comment.isWithdrawn = true
      try keep(comment)
    } else {
      try remove(id)
    }
    return .removed(comment)
  }
}
