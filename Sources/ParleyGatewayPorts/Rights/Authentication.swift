import ParleyJSON

/// A set of rights to a document, a folder or a room.
public struct Verbs: OptionSet, Hashable, Sendable {
  /// The rights as bits.
  public let rawValue: UInt8

  /// Creates a set of verbs from its bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The right to read text, history and updates.
  public static let read = Verbs(rawValue: 1 << 0)
  /// The right to change text, and to name and restore versions.
  public static let write = Verbs(rawValue: 1 << 1)
  /// The right to publish in a room.
  public static let publish = Verbs(rawValue: 1 << 2)
  /// The right to appear in presence and to see the presence of others.
  public static let presence = Verbs(rawValue: 1 << 3)
  /// The right to create, rename, delete and share notes, and to moderate.
  public static let manage = Verbs(rawValue: 1 << 4)

  /// The right to comment on the text. The right to write includes it.
  public static let comment = Verbs(rawValue: 1 << 5)

  /// The right to send signals in a room. The right to publish includes it.
  public static let signal = Verbs(rawValue: 1 << 6)

  /// All verbs.
  public static let all: Verbs = [.read, .write, .publish, .presence, .manage, .comment, .signal]

  /// The verbs that have no meaning for documents.
  public static let ofRoomsAlone: Verbs = [.publish, .signal]

  /// Each verb with its word in tokens.
  public static let words: [(word: String, verbs: Verbs)] = [
    ("read", .read), ("write", .write), ("publish", .publish), ("presence", .presence),
    ("manage", .manage), ("comment", .comment), ("signal", .signal),
  ]

  /// Creates the verb of a word in a token; `nil` for an unknown word.
  public init?(word: String) {
    guard let known = Self.words.first(where: { $0.word == word }) else { return nil }
    self = known.verbs
  }
}

/// A document or room to which rights are checked.
public enum Subject: Hashable, Sendable {
  /// A document, by its id and folder. If the folder is unknown (`nil`), rights to folders do not
  /// apply.
  case document(DocumentID, in: FolderPath?)
  /// A room, by its name.
  case room(RoomName)
}

/// A pattern of names: matches one name, or all names with a prefix.
public struct NamePattern: Hashable, Sendable {
  private let stem: [UInt8]
  /// Whether all names with the prefix match; of folders, the named folder and all below it.
  let isPattern: Bool

  /// - Parameter text: A name, or a prefix followed by `*`. A `*` elsewhere is literal.
  public init(_ text: String) {
    let bytes = Array(text.utf8)
    isPattern = bytes.last == UInt8(ascii: "*")
    stem = isPattern ? Array(bytes.dropLast()) : bytes
  }

  /// Creates a pattern of exactly one name, even if the name ends with `*`.
  public init(exactly name: String) { self.init(name, isPattern: false) }

  /// Creates a pattern of one name, or of all names with that prefix. A `*` in it is literal.
  init(_ name: String, isPattern: Bool) {
    stem = Array(name.utf8)
    self.isPattern = isPattern
  }

  /// The written form; `nil` for exactly one name that ends with `*`, which has no written form.
  public var text: String? {
    if isPattern { return name + "*" }
    return stem.last == UInt8(ascii: "*") ? nil : name
  }

  /// The name or the prefix.
  public var name: String { String(decoding: stem, as: UTF8.self) }

  /// Whether every name matches.
  var isEverything: Bool { isPattern && stem.isEmpty }

  /// Whether every matching name begins with a text.
  func begins(with text: String) -> Bool { stem.starts(with: text.utf8) }

  /// Whether a path is the folder that the stem names (the stem ends with a slash), or lies below
  /// that folder. Does not allocate, because lists check each note against each right.
  func isAbove(_ path: String) -> Bool {
    path.utf8.starts(with: stem)
      || path.utf8.count == stem.count - 1 && stem.starts(with: path.utf8)
  }

  /// Whether a name matches, byte by byte.
  public func matches(_ name: String) -> Bool {
    (isPattern || name.utf8.count == stem.count) && name.utf8.starts(with: stem)
  }
}

/// Rights on the documents, rooms or folders of a pattern.
public struct Grant: Hashable, Sendable {
  /// The kind of subject.
  public enum Kind: Sendable {
    case documents
    case rooms
    /// Documents, by the folders that contain them.
    case folders
  }

  /// The kind of subject that the pattern matches.
  public var kind: Kind
  /// The names of the subjects.
  public var pattern: NamePattern
  /// The rights to them.
  public var verbs: Verbs

  /// Creates a grant of verbs on the subjects of a pattern.
  public init(_ kind: Kind, _ pattern: NamePattern, _ verbs: Verbs) {
    self.kind = kind
    self.pattern = pattern
    self.verbs = verbs
  }
}

/// The owner of a valid token.
public struct Identity: Hashable, Sendable {
  /// The user's id: the token's `sub`.
  public var user: String
  /// The display name; with `nil` the client chooses it.
  public var name: String?
  /// The token's id, by which this token alone can be revoked.
  public var tokenID: String?
  /// The time at which the token was issued.
  public var issuedAt: Timestamp?
  /// The time from which the token is invalid; `nil` if it does not expire.
  public var expiresAt: Timestamp?
  /// The user's rights.
  public var grants: [Grant]
  /// Whether many people share the token, as guests of a shared link do. `user` then names the
  /// link, and only client ids distinguish the guests.
  public var isGuest = false
  /// Whether the rights are those of the ``UserSource``, updated whenever they change there.
  public var hasSourceRights = false
  /// Whether the identity may operate the server, such as revoke and create tokens. Only API keys
  /// can have this right; tokens never do.
  public var isOperator = false

  /// Creates the identity of a user who is neither a guest nor an operator.
  public init(
    user: String, name: String? = nil, tokenID: String? = nil, issuedAt: Timestamp? = nil,
    expiresAt: Timestamp? = nil, grants: [Grant]
  ) {
    self.user = user
    self.name = name
    self.tokenID = tokenID
    self.issuedAt = issuedAt
    self.expiresAt = expiresAt
    self.grants = grants
  }

  /// The prefix of the user ids of shared links.
  public static let guestPrefix = "share/"
  /// The prefix of the user ids of programs with an API key.
  public static let programPrefix = "key:"

  /// Whether a user id is reserved for links and programs, so that no other token may contain it.
  public static func isReserved(_ user: String) -> Bool {
    isProgram(user) || user.utf8.starts(with: guestPrefix.utf8)
  }

  /// Whether a user id belongs to a program with an API key.
  public static func isProgram(_ user: String) -> Bool {
    user.utf8.starts(with: programPrefix.utf8)
  }

  /// Whether the grants together allow all of the verbs on the subject.
  public func may(_ verbs: Verbs, _ subject: Subject) -> Bool {
    self.verbs(on: subject).isSuperset(of: verbs)
  }

  /// The prefixes of rooms that belong to one user, whose id follows the prefix. Only that user
  /// receives their publications.
  public static let ownRoomPrefixes = ["/user/", "/me/"]

  /// Returns the prefix of another user's own room; `nil` for other rooms, and for a program.
  private func prefix(ofAnothers name: RoomName) -> String? {
    let room = name.text
    guard room.utf8.first == UInt8(ascii: "/"), !Self.isProgram(user),
      let prefix = Self.ownRoomPrefixes.first(where: { room.utf8.starts(with: $0.utf8) })
    else { return nil }
    let isOwn = !user.isEmpty && room.utf8.dropFirst(prefix.utf8.count).elementsEqual(user.utf8)
    return isOwn ? nil : prefix
  }

  /// The prefix of rooms that belong to a note, whose id follows the prefix. They notify readers of
  /// the note of changed comments; publications are refused, and rights to rooms do not apply. A
  /// room's name contains no folder, so a user who may read the note because of its folder may read
  /// the room only while the connection follows the note.
  public static let noteRoomPrefix = "/note/"

  /// The prefix of rooms that tell a user of changed notices; the user's id follows the prefix. Only
  /// that user may read the room. Publications are refused, and rights to rooms do not apply.
  public static let noticeRoomPrefix = "/notices/"

  /// Returns the user's right to a room with ``noticeRoomPrefix``.
  private func verbs(onNoticeRoom name: RoomName) -> Verbs {
    guard !isGuest, !user.isEmpty, !Self.isReserved(user) else { return [] }
    let owner = name.text.utf8.dropFirst(Self.noticeRoomPrefix.utf8.count)
    return owner.elementsEqual(user.utf8) ? .read : []
  }

  /// The room that announces changes of the list of notes. A user with a right to read several
  /// notes, by pattern or by folder, may read it without a right to rooms.
  public static let noteListRoom: RoomName = "notes"

  /// Whether the user may list notes. Guests, and users with rights to single ids only, may not.
  private var hasNoteList: Bool {
    !isGuest
      && grants.contains { grant in
        guard grant.verbs.contains(.read) else { return false }
        return switch grant.kind {
        case .documents: grant.pattern.isPattern
        case .folders: true
        case .rooms: false
        }
      }
  }

  /// Returns all verbs that the grants allow on the subject.
  ///
  /// A grant opens another user's own room only if its pattern begins with the room's prefix, such
  /// as `/user/*`. A grant for `*` allows only publishing there.
  ///
  /// - Complexity: O(*n*) grants.
  public func verbs(on subject: Subject) -> Verbs {
    var granted: Verbs = []
    var anothers: String?
    if case .room(let name) = subject {
      if name.text.utf8.starts(with: Self.noteRoomPrefix.utf8) {
        // A room's name contains no creation time, so a link does not open it. Only clients that
        // follow the note may read it.
        guard noteCreationTimeMax == nil else { return [] }
        let note = String(name.text.utf8.dropFirst(Self.noteRoomPrefix.utf8.count)) ?? ""
        return verbs(on: .document(DocumentID(note), in: nil)).intersection(.read)
      }
      if name.text.utf8.starts(with: Self.noticeRoomPrefix.utf8) {
        return verbs(onNoticeRoom: name)
      }
      anothers = prefix(ofAnothers: name)
      if name == Self.noteListRoom, hasNoteList { granted.insert(.read) }
    }
    for grant in grants {
      switch (subject, grant.kind) {
      case (.document(let id, _), .documents) where grant.pattern.matches(id.text):
        granted.formUnion(grant.verbs)
      case (.document(_, let folder?), .folders) where grant.pattern.matches(folder: folder):
        granted.formUnion(grant.verbs)
      case (.room(let name), .rooms) where grant.pattern.matches(name.text):
        let isMeant = anothers.map(grant.pattern.begins) ?? true
        granted.formUnion(isMeant ? grant.verbs : grant.verbs.intersection(.publish))
      case (.document, _), (.room, _): break
      }
    }
    switch subject {
    case .document: if granted.contains(.write) { granted.insert(.comment) }
    case .room: if granted.contains(.publish) { granted.insert(.signal) }
    }
    return granted
  }

  /// The identity of all clients of an open demo, with all rights.
  public static let demo = Identity(
    user: "",
    grants: [Grant(.documents, NamePattern("*"), .all), Grant(.rooms, NamePattern("*"), .all)]
      + ownRoomPrefixes.map { Grant(.rooms, NamePattern($0 + "*"), .all) })
}

/// The reason to reject a token. Of its text, it contains only the name of a registered algorithm.
public enum AuthenticationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// There is no token.
  case missing
  /// The text is not a token.
  case malformed
  /// The algorithm differs from the key's, or the token requires an unsupported extension.
  case algorithm
  /// The server does not accept the algorithm, whatever the key.
  case refusedAlgorithm(RefusedAlgorithm)
  /// No key has the token's key id.
  case unknownKey
  /// The signature is invalid.
  case signature
  /// The token has expired.
  case expired
  /// The token was revoked.
  case revoked
  /// The token may have been revoked: this gateway has lost contact with the others.
  case unverified
  /// The token is not valid yet.
  case notYetValid
  /// The token's audience is another one.
  case audience
  /// The token's issuer is another one.
  case issuer
  /// A claim is missing or of the wrong type.
  case claims

  /// The accepted algorithms, for error texts.
  public static let acceptedAlgorithms = "HS256, RS256, ES256 or EdDSA"

  /// The reason in a log.
  public var description: String {
    switch self {
    case .missing: "missing"
    case .malformed: "malformed"
    case .algorithm: "algorithm"
    case .refusedAlgorithm(let name):
      "algorithm: expected \(Self.acceptedAlgorithms), got \(name.rawValue)"
    case .unknownKey: "unknownKey"
    case .signature: "signature"
    case .expired: "expired"
    case .revoked: "revoked"
    case .unverified: "unverified"
    case .notYetValid: "notYetValid"
    case .audience: "audience"
    case .issuer: "issuer"
    case .claims: "claims"
    }
  }
}

extension Grant {
  /// Parses `MATCH=MAY`: a pattern, and verbs separated by commas or `all`. The last `=` separates
  /// them, since a name may contain `=`. In folders, a space is written `%20`, as in URLs.
  public init(_ kind: Kind, text: String) throws(GrantTextError) {
    guard let equals = text.utf8.lastIndex(of: UInt8(ascii: "=")), equals > text.startIndex else {
      throw .form
    }
    var verbs: Verbs = []
    for word in text[text.index(after: equals)...].split(separator: ",") {
      guard let verb = word == "all" ? Verbs.all : Verbs(word: String(word)) else {
        throw .verb(String(word))
      }
      verbs.formUnion(verb)
    }
    guard !verbs.isEmpty else { throw .form }
    let match = String(text[..<equals])
    guard kind == .folders else {
      self.init(kind, NamePattern(match), verbs)
      return
    }
    guard let path = PercentEncoding.decoded(match[...]), let pattern = NamePattern(folders: path)
    else {
      throw .folder
    }
    self.init(kind, pattern, verbs)
  }
}

extension Grant {
  /// Parses a grant with a prefix of its kind, such as `document:*=read`, as in settings and in
  /// files of users and keys.
  ///
  /// - Throws: `form` also for an unknown kind.
  public init(word: String) throws(GrantTextError) {
    let kind: Kind
    switch word.prefix(while: { $0 != ":" }) {
    case "room": kind = .rooms
    case "document": kind = .documents
    case "folder": kind = .folders
    default: throw .form
    }
    try self.init(kind, text: String(word.drop { $0 != ":" }.dropFirst()))
  }
}

/// The reason why a text is not a grant.
public enum GrantTextError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The text is not `MATCH=MAY`.
  case form
  /// No verb has this name.
  case verb(String)
  /// The text is not a pattern of folders.
  case folder

  /// The expected form, and the invalid verb if there is one.
  public var description: String {
    switch self {
    case .form: "expected MATCH=MAY, such as *=read,write"
    case .folder:
      "expected a folder such as team=read, or team/*=read for it and all below; a blank is %20"
    case .verb(let word):
      "expected read, comment, write, publish, presence, manage or all; got \(word)"
    }
  }
}

/// Authenticates API keys. Programs send a key with HTTP requests; keys do not open WebSockets.
public protocol APIKeys {
  /// Returns the identity of a key's owner; `nil` for an unknown key.
  func identity(for key: String, now: Timestamp) -> Identity?
}

extension APIKeys {
  /// The prefix of all keys. It distinguishes keys from tokens, and lets scanners find leaked keys.
  public static var prefix: String { "pk_" }
}

/// Authenticates tokens.
public protocol Authenticator {
  /// Whether a room token, created by a backend for a room and a user, admits the user to the room.
  ///
  /// The token's `name` is the room, its `sub` the user, and its `iat` the deadline.
  func admits(_ roomToken: String, to room: RoomName, user: String, now: Timestamp) -> Bool

  /// Verifies a token and returns its owner's identity.
  ///
  /// - Parameters:
  ///   - token: The token as sent, without `Bearer`.
  ///   - now: The time to check the token against.
  func authenticate(_ token: String, now: Timestamp) throws(AuthenticationError) -> Identity
}

extension Authenticator {
  /// Rejects every token, the default without room tokens.
  public func admits(_ roomToken: String, to room: RoomName, user: String, now: Timestamp) -> Bool {
    false
  }
}
