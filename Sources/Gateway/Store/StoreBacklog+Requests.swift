import GatewayPorts
import JSON

extension StoreBacklog {
  /// The approximate bytes that a request holds while it waits; `nil` if it is not counted by itself.
  static func weight(of request: StoreRequest) -> Int? {
    switch request {
    // Its changes are counted one by one, from when they were taken.
    case .append: nil
    case .once(.perform(let work, _, _)), .within(_, let work): weight(of: work)
    case .once(.create(let draft, _, _)): 256 + draft.title.utf8.count
    case .once(.answer(let request, _)): 256 + request.body.count
    case .create(_, _, let title, _, _), .rename(_, let title, _): 256 + title.utf8.count
    case .snapshot(_, _, _, let text): 256 + text.utf8.count
    case .room(.publish(_, let draft, _, _)): 256 + draft.publication.data.utf8.count
    case .comments(let request): 256 + request.textByteCount
    case .delete, .deleted, .note, .list, .notes, .load, .entries, .news, .heads, .fence, .text,
      .history, .past, .versions, .saveVersion, .deleteVersion, .renewEpoch, .compact, .room,
      .people, .groups, .files, .folders, .logins, .links, .tell, .wipeFailedCommits, .probe:
      256
    }
  }

  /// Whether a request goes to the store even if too much waits there: work that was promised, and work
  /// that does not wait for the disk.
  static func isPassed(by request: StoreRequest) -> Bool {
    switch request {
    case .append, .renewEpoch, .news, .heads, .fence: true
    // Work that is done already; only its answer has to be kept.
    case .once(.perform(.tell, _, _)): true
    case .once(.perform(let work, _, _)), .within(_, let work): isPassed(by: work)
    default: request.isAside
    }
  }
}

extension CommentRequest {
  /// Bytes of the text that it brings.
  fileprivate var textByteCount: Int {
    switch work {
    case .add(let comment, _): comment.text.utf8.count + (comment.origin?.quote.utf8.count ?? 0)
    case .edit(_, let text, _, _): text.utf8.count
    case .list, .quote, .resolve, .remove: 0
    }
  }
}
