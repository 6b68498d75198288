import ParleyGatewayPorts

extension StoreError {
  /// The error in a word, for logs: the store's own description may contain names of files.
  var logName: String {
    switch self {
    case .unknownDocument: "unknown document"
    case .exists: "exists"
    case .notNext: "not next"
    case .unknownOutcome: "unknown outcome"
    case .fenced: "fenced"
    case .compacted: "compacted"
    case .unavailable: "unavailable"
    case .refused: "refused"
    case .answeredElsewhere: "answered elsewhere"
    case .outOfReach: "out of reach"
    case .damaged: "damaged"
    case .cancelled: "cancelled"
    }
  }

  /// Whether the store itself is the cause, and not the request.
  var isOfTheStore: Bool {
    switch self {
    case .damaged, .unavailable, .refused, .unknownOutcome: true
    case .compacted, .unknownDocument, .exists, .notNext, .fenced, .answeredElsewhere, .outOfReach,
      .cancelled:
      false
    }
  }

  /// Whether the work may have been done.
  var isUnknownOutcome: Bool {
    if case .unknownOutcome = self { true } else { false }
  }

  /// Whether the requested data is no longer kept.
  var isCompacted: Bool {
    if case .compacted = self { true } else { false }
  }
}
