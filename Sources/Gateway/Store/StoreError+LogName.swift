import ParleyGatewayPorts

extension StoreError {
  /// A short name for logs. The store's own description may contain file names.
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

  /// Whether the store is the cause, not the request.
  var isOfTheStore: Bool {
    switch self {
    case .damaged, .unavailable, .refused, .unknownOutcome: true
    case .compacted, .unknownDocument, .exists, .notNext, .fenced, .answeredElsewhere, .outOfReach,
      .cancelled:
      false
    }
  }

  /// Whether the work may have been done despite the error.
  var isUnknownOutcome: Bool {
    if case .unknownOutcome = self { true } else { false }
  }

  /// Whether the requested history is no longer stored.
  var isCompacted: Bool {
    if case .compacted = self { true } else { false }
  }
}
