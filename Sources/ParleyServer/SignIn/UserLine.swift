package import ParleyCryptoOpenSSL
package import ParleyGatewayPorts
import ParleyJSON
import ParleyMail

/// A line of a file of users.
package struct UserLine: Sendable, Equatable {
  /// The user.
  package var user: User
  /// The user's password, hashed.
  package var password: PasswordHash
  /// The rights and groups as written in the file, such as `document:*=read` and `group:team`.
  package var rights: [String]
  /// The user's mail address, which an operator has typed; `nil` for none.
  package var mail: String?

  /// The state that a link for a new password is bound to: the link ends with the password.
  package var resetState: String { "\(password.text) \(user.since ?? 0)" }

  /// The names of the user's groups.
  package var groups: [String] { rights.compactMap(GroupLine.groupName) }

  /// Maximum bytes of an id and of a display name; a login with a longer one is rejected.
  private static let bytesMax = 200

  /// Creates the line of a new user.
  ///
  /// - Parameters:
  ///   - name: The display name; `nil` for the id.
  ///   - rights: Words of the form `document:MATCH=MAY`, `room:MATCH=MAY` or `folder:MATCH=MAY`.
  ///   - since: The time before which tokens for this id are invalid.
  package init(
    id: String, name: String?, password: PasswordHash, rights: [String], since: Timestamp,
    mail: String? = nil
  ) throws(FileError) {
    let id = AccountName.tidied(id)
    try Self.check(id: id)
    try Self.check(name: name ?? id)
    let user = User(id: id, name: name ?? id, grants: [], since: since)
    if let mail { try Self.check(mail: mail) }
    self.init(user: user, password: password, rights: rights, mail: mail)
    // Parse the line, so that no line is written that cannot be read.
    self = try Self(text[...], place: nil)
  }

  private init(user: User, password: PasswordHash, rights: [String], mail: String?) {
    self.user = user
    self.password = password
    self.rights = rights
    self.mail = mail
  }

  /// The line, as written in the file.
  package var text: String {
    var words = [user.id, password.text]
    if let since = user.since { words.append("since:\(since)") }
    if !user.name.isExactly(user.id) {
      words.append("name:" + LineText.escaped(user.name, "%#"))
    }
    if let mail { words.append("mail:" + LineText.escaped(mail, "%#")) }
    return (words + rights).joined(separator: " ")
  }

  // MARK: Valid names

  /// Whether a text is a valid id: short, and without blanks, `#`, invisible characters or a
  /// leading `-`.
  static func isName(_ id: String) -> Bool {
    !id.isEmpty && id.utf8.count <= bytesMax && !id.hasPrefix("-")
      && !id.unicodeScalars.contains { $0 == "#" || $0.isBlank || $0.isInvisible }
  }

  /// Returns a foreign name as one line, without bidirectional controls, cut to the maximum length.
  package static func shownName(_ text: String) -> String {
    var name = String(
      String.UnicodeScalarView(OneLine.made(of: text).unicodeScalars.filter { !$0.isDeceiving }))
    while let first = name.unicodeScalars.first, first.isBlank {
      name.unicodeScalars.removeFirst()
    }
    while let last = name.unicodeScalars.last, last.isBlank || name.utf8.count > bytesMax {
      name.unicodeScalars.removeLast()
    }
    return name
  }

  private static func check(id: String) throws(FileError) {
    guard isName(id) else {
      throw FileError(
        "expected a user's name of 1 to \(bytesMax) bytes without blanks, # and invisible "
          + "characters, and no - at its beginning")
    }
    guard !Identity.isReserved(id) else { throw reserved(nil) }
  }

  /// Throws if a name that a user has chosen could be parsed as a group, a right or a pattern.
  static func check(chosen id: String) throws(FileError) {
    guard PlainName(AccountName.tidied(id)) != nil, !id.utf8.starts(with: "@".utf8),
      !id.utf8.contains(where: "{}:=".utf8.contains)
    else {
      throw FileError(
        "expected a user's name without * / \\ { } : =, blanks and invisible characters, and without @ at its beginning"
      )
    }
  }

  /// Throws if a text is not a valid display name.
  static func check(name: String) throws(FileError) {
    guard name.utf8.count <= bytesMax, name.unicodeScalars.contains(where: { !$0.isBlank }),
      !name.unicodeScalars.contains(where: \.isDeceiving)
    else {
      throw FileError(
        "expected a shown name of 1 to \(bytesMax) bytes, without line breaks, control characters "
          + "and marks that change the direction of writing")
    }
  }

  /// Throws if a text is not a mail address.
  static func check(mail: String) throws(FileError) {
    do throws(MailError) { _ = try MailAddress(mail) } catch { throw FileError("\(error)") }
  }

  /// - Parameter place: The file and its line; `nil` for an id that is not from a file.
  private static func reserved(_ place: String?) -> FileError {
    FileError(
      prefix(place)
        + "no user may be called \(Identity.guestPrefix)… or \(Identity.programPrefix)…")
  }

  private static func prefix(_ place: String?) -> String { place.map { "\($0): " } ?? "" }

  // MARK: Reading

  /// Reads the users in a file.
  package static func lines(ofFileAt path: String) throws(FileError) -> [UserLine] {
    try lines(of: text(ofFileAt: path), path).compactMap(\.line)
  }

  static func text(ofFileAt path: String) throws(FileError) -> String {
    do throws(FileError) {
      return try Files.text(at: path)
    } catch {
      throw FileError("\(path) cannot be read: \(error)")
    }
  }

  /// Splits a file's text into lines, each with its user; `nil` for comments, groups, empty lines.
  static func lines(
    of text: String, _ path: String
  ) throws(FileError) -> [(text: Substring, line: UserLine?)] {
    var known: [AccountName: Int] = [:]
    var all: [(text: Substring, line: UserLine?)] = []
    let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    for (index, whole) in lines.enumerated() {
      let words = whole.prefix { $0 != "#" }
      guard words.contains(where: { $0 != " " && $0 != "\t" }) else {
        all.append((whole, nil))
        continue
      }
      guard !GroupLine.isGroup(words) else {
        // Parsed only to report errors.
        _ = try GroupLine(words, place: "\(path):\(index + 1)")
        all.append((whole, nil))
        continue
      }
      let line = try UserLine(words, place: "\(path):\(index + 1)")
      if let other = known.updateValue(index + 1, forKey: AccountName(line.user.id)) {
        throw FileError(
          "\(path):\(index + 1): this user is in line \(other) already, for names are compared without case; rename "
            + "or remove one of the two")
      }
      all.append((whole, line))
    }
    return all
  }

  private init(_ line: Substring, place: String?) throws(FileError) {
    let words = line.split { $0 == " " || $0 == "\t" }.map(String.init)
    guard words.count >= 2, let password = PasswordHash(words[1]) else {
      throw FileError(
        Self.prefix(place)
          + "expected USER scrypt$… and rights; parley user add makes such lines")
    }
    guard !Identity.isReserved(words[0]) else { throw Self.reserved(place) }
    var user = User(id: words[0], name: words[0], grants: [])
    var rights: [String] = []
    var mail: String?
    for word in words.dropFirst(2) {
      do throws(GrantTextError) {
        if word.hasPrefix("name:"), let name = LineText.unescaped(word.dropFirst(5)) {
          user.name = name
        } else if word.hasPrefix("mail:"), let address = LineText.unescaped(word.dropFirst(5)),
          (try? MailAddress(address)) != nil
        {
          mail = address
        } else if word.hasPrefix("since:"), let since = Timestamp(word.dropFirst(6)) {
          user.since = since
        } else if GroupLine.groupName(word) != nil {
          rights.append(word)
        } else {
          user.grants.append(try Grant(word: word))
          rights.append(word)
        }
      } catch {
        throw FileError(
          Self.prefix(place)
            + "expected name:NAME, mail:ADDRESS, group:NAME, room:MATCH=MAY, document:MATCH=MAY or "
            + "folder:MATCH=MAY: \(error)")
      }
    }
    self.init(user: user, password: password, rights: rights, mail: mail)
  }
}
