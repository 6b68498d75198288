/// A note's publication under a readable name: everyone who can reach the server may read the note.
///
/// A publication is a link whose key is public. Its readers have tokens with its id, by which all of them
/// lose the right at once.
public struct PublicName: Sendable, Hashable {
  /// The publication's id. A note that gets another name keeps it.
  public var id: String
  /// The name that opens the note.
  public var name: ReadableName
  /// The note's id.
  public var note: DocumentID
  /// The user who has published it; empty where users have no names.
  public var maker: String
  /// The time at which the note got the name.
  public var createdAt: Timestamp

  /// The prefix of the ids of publications, which are a kind of links.
  public static let idPrefix = NoteLink.idPrefix + "p."
  /// The rights of readers. They do not see each other, nor who is writing.
  public static let verbs: Verbs = [.read]
  /// Milliseconds that a reader's token lasts.
  public static let tokenMilliseconds: Timestamp = 86_400_000
  /// Milliseconds for which a withdrawn name is not given to another note.
  public static let restMilliseconds: Timestamp = 30 * 86_400_000

  /// Describes a publication.
  public init(
    id: String, name: ReadableName, note: DocumentID, maker: String, createdAt: Timestamp
  ) {
    self.id = id
    self.name = name
    self.note = note
    self.maker = maker
    self.createdAt = createdAt
  }

  /// Limits on names; each counts withdrawn names that are not free yet, too.
  public struct Limits: Sendable {
    /// Names of one note.
    public var ofNote = 20
    /// Names that one user has given. They are not counted where users have no names.
    public var ofMaker = 500
    /// Names of all notes.
    public var overall = 20_000

    /// The usual limits.
    public init() {}
  }
}

/// Work with the names of published notes.
public enum NameRequest: Sendable {
  /// Publishes a note under a name, which takes the place of its former name. A name that the note has already is
  /// kept as it is. Fails with `unknownDocument` where there is no such note. Some names whose rest is over are removed
  /// with it.
  case publish(PublicName, PublicName.Limits)
  /// Withdraws the name of a note. Fails with `unknownDocument` where there is no such note.
  case withdraw(note: DocumentID, now: Timestamp)
  /// Finds the name of a note.
  case of(note: DocumentID)
  /// Finds the note that is published under a name.
  case open(ReadableName)
  /// Lists the names of published notes, in the order of the names.
  case list

  /// Its traits.
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
  /// The note is published like this.
  case published(PublicName)
  /// Another note has the name.
  case taken
  /// Another note had the name, which is not free before this time.
  case resting(until: Timestamp)
  /// There may not be more names.
  case tooMany
  /// The name was withdrawn; `nil` if the note had none.
  case withdrawn(PublicName?)
  /// The name of a note, if it has one, and the note's folder; `nil` where there is no such note.
  case name(PublicName?, in: FolderPath?)
  /// A published note, and its title.
  case note(PublicName, title: String)
  /// No note is published under the name.
  case unknown
  /// Names of published notes.
  case names([PublicName])
}

extension Identity {
  /// Whether it is the identity of a reader who opened a published note by its name.
  public var isPublicReader: Bool {
    isGuest && tokenID?.utf8.starts(with: PublicName.idPrefix.utf8) == true
  }

  /// The identity of readers of a published note.
  ///
  /// The user does not belong to the note: revoking all links of a note does not concern its publication.
  public static func publicReader(of published: PublicName, at now: Timestamp) -> Identity {
    var reader = Identity(
      user: guestPrefix, tokenID: published.id, issuedAt: now,
      expiresAt: now + PublicName.tokenMilliseconds,
      grants: [Grant(.documents, NamePattern(exactly: published.note.text), PublicName.verbs)])
    reader.isGuest = true
    return reader
  }
}
