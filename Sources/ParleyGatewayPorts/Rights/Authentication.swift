/// The rights to a document or a room.
public struct Verbs: OptionSet, Hashable, Sendable {
  /// The rights as bits.
  public let rawValue: UInt8

  /// Makes a set of verbs.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// See text, history and updates.
  public static let read = Verbs(rawValue: 1 << 0)
  /// Change text; name and restore versions.
  public static let write = Verbs(rawValue: 1 << 1)
  /// Send updates to a room.
  public static let publish = Verbs(rawValue: 1 << 2)
  /// Be seen, and see who is there.
  public static let presence = Verbs(rawValue: 1 << 3)
  /// Make, rename, delete and share notes; moderate.
  public static let manage = Verbs(rawValue: 1 << 4)

  /// Remark on the text. A right to write includes it.
  public static let comment = Verbs(rawValue: 1 << 5)

  /// Everything.
  public static let all: Verbs = [.read, .write, .publish, .presence, .manage, .comment]

  /// Every verb with the word that tokens use for it.
  public static let words: [(word: String, verbs: Verbs)] = [
    ("read", .read), ("write", .write), ("publish", .publish), ("presence", .presence),
    ("manage", .manage), ("comment", .comment),
  ]

  /// The verb of a word in a token.
  public init?(word: String) {
    guard let known = Self.words.first(where: { $0.word == word }) else { return nil }
    self = known.verbs
  }
}

/// The documents or rooms that a right applies to.
public enum Subject: Hashable, Sendable {
  /// A document, by its id and its folder; `nil` for an unknown folder, for which no right to folders
  /// counts.
  case document(DocumentID, in: FolderPath?)
  /// A room, by its name.
  case room(String)
}

/// A set of names: one name, or all names with the same beginning.
public struct NamePattern: Hashable, Sendable {
  private let stem: [UInt8]
  /// Whether all names with the same beginning match; of folders, one and all below it.
  let isPattern: Bool

  /// - Parameter text: a name, or the beginning of names followed by `*`. A `*` anywhere else
  ///   stands for itself.
  public init(_ text: String) {
    let bytes = Array(text.utf8)
    isPattern = bytes.last == UInt8(ascii: "*")
    stem = isPattern ? Array(bytes.dropLast()) : bytes
  }

  /// Matches exactly one name, even if it ends like a pattern.
  public init(exactly name: String) { self.init(name, isPattern: false) }

  /// Matches one name, or all names that begin with it. A `*` in the name stands for itself.
  init(_ name: String, isPattern: Bool) {
    stem = Array(name.utf8)
    self.isPattern = isPattern
  }

  /// The pattern as it is written; `nil` for exactly one name that ends with `*`, which has no written
  /// form.
  public var text: String? {
    if isPattern { return name + "*" }
    return stem.last == UInt8(ascii: "*") ? nil : name
  }

  /// The name, or the beginning of names.
  public var name: String { String(decoding: stem, as: UTF8.self) }

  /// Whether every name matches.
  var isEverything: Bool { isPattern && stem.isEmpty }

  /// Whether every matching name begins so.
  func begins(with text: String) -> Bool { stem.starts(with: text.utf8) }

  /// Whether a path is the one before the last slash of the stem, or lies below it. Nothing is allocated,
  /// for lists check each note against each right.
  func isAbove(_ path: String) -> Bool {
    path.utf8.starts(with: stem) || path.utf8.elementsEqual(stem.dropLast())
  }

  /// Whether a name matches. Compared byte by byte.
  public func matches(_ name: String) -> Bool {
    isPattern ? name.utf8.starts(with: stem) : name.utf8.elementsEqual(stem)
  }
}

/// Rights on the documents, rooms or folders of a pattern.
public struct Grant: Hashable, Sendable {
  /// The kind of subject.
  public enum Kind: Sendable {
    case documents
    case rooms
    /// The documents in folders.
    case folders
  }

  /// Documents, rooms or folders.
  public var kind: Kind
  /// The names of the subjects.
  public var pattern: NamePattern
  /// The rights to them.
  public var verbs: Verbs

  /// Makes a grant.
  public init(_ kind: Kind, _ pattern: NamePattern, _ verbs: Verbs) {
    self.kind = kind
    self.pattern = pattern
    self.verbs = verbs
  }
}

/// The owner of a valid token.
public struct Identity: Hashable, Sendable {
  /// The user's id, the token's `sub`.
  public var user: String
  /// The name that others see; `nil` leaves it to the client.
  public var name: String?
  /// The token's own id, for revoking it alone.
  public var tokenID: String?
  /// The time at which the token was issued.
  public var issuedAt: Timestamp?
  /// From when on the token is no longer valid; `nil` for never.
  public var expiresAt: Timestamp?
  /// The user's rights.
  public var grants: [Grant]
  /// Whether many people hold the token, as that of a shared link: `user` then names the link, and people
  /// are told apart by their client ids alone.
  public var isGuest = false
  /// Whether the rights come from the source of users, now and whenever they change there.
  public var isListed = false
  /// Whether it may run the server: take tokens back, make them. Only an API key can be an operator's, no
  /// token.
  public var isOperator = false

  /// Makes an identity.
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

  /// Whether a user's name is one that the server itself gives to links and to programs: no other token may
  /// use it.
  public static func isReserved(_ user: String) -> Bool {
    isProgram(user) || user.utf8.starts(with: guestPrefix.utf8)
  }

  /// Whether a name is that of a program with an API key.
  public static func isProgram(_ user: String) -> Bool {
    user.utf8.starts(with: programPrefix.utf8)
  }

  /// Whether one of the grants allows all of these verbs on the subject, or several together do.
  public func may(_ verbs: Verbs, _ subject: Subject) -> Bool {
    self.verbs(on: subject).isSuperset(of: verbs)
  }

  /// The prefixes of rooms that belong to one user, whose id follows the prefix. Publications there
  /// are for that user alone.
  public static let ownRoomPrefixes = ["/user/", "/me/"]

  /// Returns the prefix of a room that belongs to another user; `nil` for all other rooms. To a
  /// program no room is another's.
  private func prefix(ofAnothers room: String) -> String? {
    guard room.utf8.first == UInt8(ascii: "/"), !Self.isProgram(user),
      let prefix = Self.ownRoomPrefixes.first(where: { room.utf8.starts(with: $0.utf8) })
    else { return nil }
    let isOwn = !user.isEmpty && room.utf8.dropFirst(prefix.utf8.count).elementsEqual(user.utf8)
    return isOwn ? nil : prefix
  }

  /// The prefix of rooms that belong to a note, whose id follows the prefix. They notify readers of the
  /// note when its comments change; publications there are refused, and no right to rooms opens them. A
  /// user who may read the note by its folder may read the room while their connection follows the note,
  /// since a room's name contains no folder.
  public static let noteRoomPrefix = "/note/"

  /// The room that announces changes of the list of notes. A user who may read several notes, by a pattern
  /// or by a folder, may read it without a right to rooms.
  public static let noteListRoom = "notes"

  /// Whether the bearer may have a list of notes: guests have one note, and so has a right to one id.
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

  /// Everything that the grants allow on the subject.
  ///
  /// Another user's own room is opened only by a grant that names it, or rooms of that kind:
  /// `/user/*`, and not `*`, by which one may only publish there.
  ///
  /// - Complexity: O(*n*) grants.
  public func verbs(on subject: Subject) -> Verbs {
    var granted: Verbs = []
    var anothers: String?
    if case .room(let name) = subject {
      if name.utf8.starts(with: Self.noteRoomPrefix.utf8) {
        // A room's name contains no time either: a link opens it like a right by the folder, to followers.
        guard notesMadeUntil == nil else { return [] }
        let note = String(name.utf8.dropFirst(Self.noteRoomPrefix.utf8.count)) ?? ""
        return verbs(on: .document(DocumentID(note), in: nil)).intersection(.read)
      }
      anothers = prefix(ofAnothers: name)
      if name.utf8.elementsEqual(Self.noteListRoom.utf8), hasNoteList { granted.insert(.read) }
    }
    for grant in grants {
      switch (subject, grant.kind) {
      case (.document(let id, _), .documents) where grant.pattern.matches(id.text):
        granted.formUnion(grant.verbs)
      case (.document(_, let folder?), .folders) where grant.pattern.matches(folder: folder):
        granted.formUnion(grant.verbs)
      case (.room(let name), .rooms) where grant.pattern.matches(name):
        let isMeant = anothers.map(grant.pattern.begins) ?? true
        granted.formUnion(isMeant ? grant.verbs : grant.verbs.intersection(.publish))
      case (.document, _), (.room, _): break
      }
    }
    if case .document = subject, granted.contains(.write) { granted.insert(.comment) }
    return granted
  }

  /// The identity of every client of an open demo, with all rights.
  public static let demo = Identity(
    user: "",
    grants: [Grant(.documents, NamePattern("*"), .all), Grant(.rooms, NamePattern("*"), .all)]
      + ownRoomPrefixes.map { Grant(.rooms, NamePattern($0 + "*"), .all) })
}

/// The reason why a token is rejected. Contains nothing of the token but a registered algorithm.
public enum AuthenticationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// There is no token.
  case missing
  /// It is not a token.
  case malformed
  /// Its algorithm is not the key's, or it has extensions that must be understood.
  case algorithm
  /// Its algorithm is not accepted, whatever its key.
  case refusedAlgorithm(RefusedAlgorithm)
  /// No key has its key id.
  case unknownKey
  /// The signature is not the key's.
  case signature
  /// Its time is over.
  case expired
  /// It was taken back.
  case revoked
  /// It may have been taken back: this gateway is cut off from the others.
  case unverified
  /// Its time has not come.
  case notYetValid
  /// It is meant for another audience.
  case audience
  /// It comes from another issuer.
  case issuer
  /// A claim is missing or of the wrong type.
  case claims

  /// The algorithms that are accepted.
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
  /// Reads `MATCH=MAY`: a pattern, and verbs separated by commas or `all`. The last `=` counts, for names
  /// may contain one too. In folders, a blank is written `%20`, as in addresses.
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
  /// Reads a right with its kind before it, such as `document:*=read`, as written in lines of users and
  /// keys and in settings.
  ///
  /// - Throws: `form` also for another kind.
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
  /// It is not `MATCH=MAY`.
  case form
  /// No verb has this name.
  case verb(String)
  /// It is no pattern of folders.
  case folder

  /// The expectation, and what was found instead.
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

/// Finds the owner of an API key. Keys are for programs that make HTTP requests; they do not open
/// WebSockets.
public protocol APIKeys {
  /// Returns the identity of a key's owner; `nil` for an unknown key.
  func identity(for key: String, now: Timestamp) -> Identity?
}

extension APIKeys {
  /// The prefix of every key, which sets it apart from tokens and lets scanners find leaked ones.
  public static var prefix: String { "pk_" }
}

/// Finds the owner of a token.
public protocol Authenticator {
  /// Whether a token, made by a backend for one room and one user, admits the user to the room.
  ///
  /// Its `name` is the room, its `sub` the user, and its `iat` the deadline.
  func admits(_ roomToken: String, to room: String, user: String, now: Timestamp) -> Bool

  /// Checks a token.
  ///
  /// - Parameters:
  ///   - token: as it was sent, without `Bearer`.
  ///   - now: the time to check it against.
  func authenticate(_ token: String, now: Timestamp) throws(AuthenticationError) -> Identity
}

extension Authenticator {
  /// Rejects every token, where no room tokens are configured.
  public func admits(_ roomToken: String, to room: String, user: String, now: Timestamp) -> Bool {
    false
  }
}
