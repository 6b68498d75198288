/// A publication of a note under a readable name, open to everyone who reaches the server.
///
/// A publication is a link whose key is public. The tokens of its readers contain its id, so
/// revoking the id revokes all of them at once.
public struct PublicName: Sendable, Hashable {
  /// The publication's id, which remains when the note gets another name.
  public var id: String
  /// The name under which the note is published.
  public var name: ReadableName
  /// The note's id.
  public var note: DocumentID
  /// The user who published the note; empty if users have no names.
  public var maker: String
  /// The time at which the note got the name.
  public var createdAt: Timestamp

  /// The prefix of publication ids. Publications are a kind of link.
  public static let idPrefix = NoteLink.idPrefix + "p."
  /// The rights of readers. Readers do not see the presence of others.
  public static let verbs: Verbs = [.read]
  /// The lifetime of a reader's token, in milliseconds.
  public static let tokenMilliseconds: Timestamp = 86_400_000
  /// Milliseconds for which a withdrawn name is reserved.
  public static let reservedMilliseconds: Timestamp = 30 * 86_400_000

  /// Creates the description of a publication.
  public init(
    id: String, name: ReadableName, note: DocumentID, maker: String, createdAt: Timestamp
  ) {
    self.id = id
    self.name = name
    self.note = note
    self.maker = maker
    self.createdAt = createdAt
  }

  /// Limits on names. Withdrawn names that are still reserved count too.
  public struct Limits: Sendable {
    /// Maximum names of one note.
    public var ofNote = 20
    /// Maximum names given by one user; not checked if users have no names.
    public var ofMaker = 500
    /// Maximum names of all notes.
    public var overall = 20_000

    /// Creates the default limits.
    public init() {}
  }
}

/// A request about the names of published notes.
public enum NameRequest: Sendable {
  /// Publishes a note under a name, which replaces the note's former name. If the note already has
  /// the name, nothing changes. Fails with `unknownDocument` if the note does not exist. Also
  /// removes some withdrawn names that are no longer reserved.
  case publish(PublicName, PublicName.Limits)
  /// Withdraws the name of a note. Fails with `unknownDocument` if the note does not exist.
  case withdraw(note: DocumentID, now: Timestamp)
  /// Finds the name of a note.
  case of(note: DocumentID)
  /// Finds the note that is published under a name.
  case open(ReadableName)
  /// Lists the publications, sorted by name.
  case list

  /// The request's traits.
  var traits: StoreTraits {
    switch self {
    case .publish(let name, _): .writing(name.note)
    case .withdraw(let note, _): .writing(note)
    case .of(let note): .aside(note)
    case .open, .list: .aside()
    }
  }
}

/// The reply to a request about names.
public enum NameReply: Sendable, Equatable {
  /// The note's publication.
  case published(PublicName)
  /// Another note has the name.
  case taken
  /// The name was withdrawn from another note and is reserved until a time.
  case resting(until: Timestamp)
  /// A limit on names is reached.
  case tooMany
  /// The name was withdrawn; `nil` if the note had none.
  case withdrawn(PublicName?)
  /// A note's publication, if it has one, and the note's folder; `nil` if the note does not exist.
  case name(PublicName?, in: FolderPath?)
  /// A publication, and the note's title.
  case note(PublicName, title: String)
  /// No note is published under the name.
  case unknown
  /// Publications.
  case names([PublicName])
}

extension Identity {
  /// Whether the identity belongs to a reader of a published note.
  public var isPublicReader: Bool {
    isGuest && tokenID?.utf8.starts(with: PublicName.idPrefix.utf8) == true
  }

  /// Returns the identity of a reader of a published note.
  ///
  /// Its user differs from that of the note's links, so revoking these does not revoke it.
  public static func publicReader(of published: PublicName, at now: Timestamp) -> Identity {
    var reader = Identity(
      user: guestPrefix, tokenID: published.id, issuedAt: now,
      expiresAt: now + PublicName.tokenMilliseconds,
      grants: [Grant(.documents, NamePattern(exactly: published.note.text), PublicName.verbs)])
    reader.isGuest = true
    return reader
  }
}
