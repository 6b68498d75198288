public import ParleyClient

/// A note's state for the user interface. If several apply, the most urgent one is used.
public enum NoteSummary: Sendable, Hashable {
  /// The note was deleted on the server.
  case deleted
  /// The note is not synchronised.
  case failed(NoteTrouble)
  /// The app has closed the note.
  case closed
  /// The server refused the edits.
  case refused(Refusal)
  /// Edits could not be stored on the device: they would be lost when the app ends.
  case storageFailing(unsaved: Int)
  /// Edits made offline were merged into a text that had changed a lot.
  case rebased
  /// There is no text yet.
  case opening
  /// The server is unreachable.
  case offline(unsaved: Int)
  /// Edits wait for the server's confirmation.
  case saving(unsaved: Int)
  /// The person has only read access.
  case readOnly
  /// The server has all edits on its disk.
  case saved

  /// The action that resolves a state, offered as a button.
  public enum Remedy: Sendable, Hashable, CaseIterable {
    /// Calls `Note.retry()`.
    case retry
    /// Calls `Note.discard()`.
    case discard
    /// Calls `Note.reopen()`.
    case reopen
    /// Resets `Note.isRebased`.
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

    /// Performs the action.
    @MainActor public func apply(to note: Note) {
      switch self {
      case .retry: note.retry()
      case .discard: note.discard()
      case .reopen: note.reopen()
      case .understood: note.isRebased = false
      }
    }
  }

  /// Creates the summary of a note. Views that call it observe the note's properties.
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

  /// The state as an English text for the user.
  public var words: String {
    switch self {
    case .deleted: "This note has been deleted."
    case .failed: "This note could not be opened."
    case .closed: "Closed"
    case .refused(let refusal): "Not saved: the server answers \(refusal.code)."
    case .storageFailing(let unsaved):
      "\(Self.edits(unsaved)) not saved, and this device cannot store them. Do not close the app."
    case .rebased: "Your offline edits were merged. Please look them over."
    case .opening: "Opening…"
    case .offline(let unsaved) where unsaved > 0: "Offline, \(Self.edits(unsaved)) not saved"
    case .offline: "Offline"
    case .saving(let unsaved): "Saving \(Self.edits(unsaved))…"
    case .readOnly: "Read only"
    case .saved: "Saved"
    }
  }

  /// The name of the state's SF Symbol.
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

  /// Whether the state requires the person's attention.
  public var isProblem: Bool {
    switch self {
    case .deleted, .failed, .refused, .storageFailing, .rebased: true
    case .closed, .opening, .offline, .saving, .readOnly, .saved: false
    }
  }

  /// The buttons, in order.
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
