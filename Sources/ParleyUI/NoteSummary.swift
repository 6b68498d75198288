public import ParleyClient

/// A note's state in one word for the person, the most pressing first.
public enum NoteSummary: Sendable, Hashable {
  /// The note is gone from the server.
  case deleted
  /// The note is not followed.
  case failed(NoteTrouble)
  /// The app has closed it.
  case closed
  /// The server does not take the edits.
  case refused(Refusal)
  /// The device does not keep the edits: they end with the app.
  case storageFailing(unsaved: Int)
  /// Edits made offline were put into a text that had moved on.
  case rebased
  /// There is no text yet.
  case opening
  /// The server is not there.
  case offline(unsaved: Int)
  /// Edits are on their way.
  case saving(unsaved: Int)
  /// The person may read only.
  case readOnly
  /// The server has everything on its disk.
  case saved

  /// The person's next step, which a view offers as a button.
  public enum Remedy: Sendable, Hashable, CaseIterable {
    /// ``Note/retry()``.
    case retry
    /// ``Note/discard()``.
    case discard
    /// ``Note/reopen()``.
    case reopen
    /// Sets ``Note/isRebased`` back.
    case understood

    /// The button's title.
    public var title: String {
      switch self {
      case .retry: "Try again"
      case .discard: "Discard my edits"
      case .reopen: "Open again"
      case .understood: "OK"
      }
    }

    /// Does it.
    @MainActor public func apply(to note: Note) {
      switch self {
      case .retry: note.retry()
      case .discard: note.discard()
      case .reopen: note.reopen()
      case .understood: note.isRebased = false
      }
    }
  }

  /// Sums up a note. Views that call it observe what it reads.
  @MainActor public init(_ note: Note) {
    switch note.state {
    case .deleted: self = .deleted
    case .failed(let trouble): self = .failed(trouble)
    case .closed: self = .closed
    case .opening, .live, .offline:
      if let refusal = note.refusal {
        self = .refused(refusal)
      } else if note.isStorageFailing, note.unsaved > 0 {
        self = .storageFailing(unsaved: note.unsaved)
      } else if note.isRebased {
        self = .rebased
      } else if note.state == .opening {
        self = .opening
      } else if note.state == .offline {
        self = .offline(unsaved: note.unsaved)
      } else if note.unsaved > 0 {
        self = .saving(unsaved: note.unsaved)
      } else {
        self = note.isWritable ? .saved : .readOnly
      }
    }
  }

  /// The state in English, for the person.
  public var words: String {
    switch self {
    case .deleted: "This note has been deleted."
    case .failed: "This note could not be opened."
    case .closed: "Closed"
    case .refused(let refusal): "Not saved: the server answers \(refusal.code)."
    case .storageFailing(let unsaved):
      "\(Self.edits(unsaved)) not saved, and this device cannot keep them. Do not close the app."
    case .rebased: "Your offline edits were merged. Please look them over."
    case .opening: "Opening…"
    case .offline(let unsaved) where unsaved > 0: "Offline, \(Self.edits(unsaved)) not saved"
    case .offline: "Offline"
    case .saving(let unsaved): "Saving \(Self.edits(unsaved))…"
    case .readOnly: "Read only"
    case .saved: "Saved"
    }
  }

  /// The name of a symbol in Apple's SF Symbols.
  public var symbol: String {
    switch self {
    case .deleted: "trash"
    case .failed, .refused, .storageFailing: "exclamationmark.triangle"
    case .closed: "xmark.circle"
    case .rebased: "arrow.triangle.merge"
    case .opening: "hourglass"
    case .offline: "wifi.slash"
    case .saving: "arrow.up.circle"
    case .readOnly: "lock"
    case .saved: "checkmark.circle"
    }
  }

  /// Whether the person has to do or know something now.
  public var isProblem: Bool {
    switch self {
    case .deleted, .failed, .refused, .storageFailing, .rebased: true
    case .closed, .opening, .offline, .saving, .readOnly, .saved: false
    }
  }

  /// Buttons, in their order.
  public var remedies: [Remedy] {
    switch self {
    case .refused: [.retry, .discard]
    case .failed: [.reopen]
    case .rebased: [.understood]
    case .deleted, .closed, .storageFailing, .opening, .offline, .saving, .readOnly, .saved: []
    }
  }

  private static func edits(_ count: Int) -> String { count == 1 ? "1 edit" : "\(count) edits" }
}
