package import ParleyCryptoOpenSSL
package import ParleyGatewayPorts

/// Edits a file of users, which a server may be reading.
///
/// Each change replaces the file atomically, and changes are serialized: even after a crash or a
/// failure of the disk, the file contains the users either before or after a change.
package struct UserEditing: Sendable {
  private let path: String

  /// Creates an editor of the file at a path.
  package init(path: String) {
    // The target of a symbolic link is replaced, not the link.
    self.path = Files.resolved(path) ?? path
  }

  /// Adds a user; creates the file if it does not exist.
  package func add(_ line: UserLine) throws(FileError) {
    try change { lines throws(FileError) in
      try Self.refuse(line.user.id, among: lines, path)
      // The text after the last line break is an empty line.
      if lines.last?.text.isEmpty ?? false { lines.removeLast() }
      lines.append((line.text[...], line))
    }
  }

  /// Returns an account's id as written in the file, by a name in any spelling; `nil` if unknown.
  package func id(of user: String) throws(FileError) -> String? {
    guard Files.isFile(path) else { return nil }
    let wanted = AccountName(user)
    return try UserLine.lines(ofFileAt: path).first { AccountName($0.user.id) == wanted }?.user.id
  }

  /// Throws if the file contains the user.
  package func refuse(_ user: String) throws(FileError) {
    guard Files.isFile(path) else { return }
    try Self.refuse(user, among: UserLine.lines(of: UserLine.text(ofFileAt: path), path), path)
  }

  private static func refuse(
    _ user: String, among lines: [(text: Substring, line: UserLine?)], _ path: String
  ) throws(FileError) {
    guard index(ofAccount: user, in: lines) == nil else {
      throw FileError(
        "\(path) has this user already; parley user passwd sets a password, parley user remove "
          + "takes the user away")
    }
  }

  /// Removes a user.
  package func remove(_ user: String) throws(FileError) {
    try require(user)
    try change { lines throws(FileError) in
      lines.remove(at: try index(of: user, in: lines))
    }
  }

  /// Changes a user's password; tokens issued before `since` become invalid.
  package func setPassword(
    of user: String, to password: PasswordHash, since: Timestamp
  ) throws(FileError) {
    try require(user)
    try change { lines throws(FileError) in
      let index = try index(of: user, in: lines)
      guard var line = lines[index].line else { return }
      line.password = password
      line.user.since = since
      lines[index] = (Self.text(of: line, after: lines[index].text), line)
    }
  }

  /// Returns the line of a user; `nil` if the file has no such user.
  package func line(of user: String) throws(FileError) -> UserLine? {
    guard Files.isFile(path) else { return nil }
    let wanted = AccountName(user)
    return try UserLine.lines(ofFileAt: path).first { AccountName($0.user.id) == wanted }
  }

  /// Changes a user's password, unless it has changed since `former`: of several requests with one
  /// link, one succeeds.
  ///
  /// - Returns: Whether the password was changed.
  func resetPassword(
    from former: UserLine, to password: PasswordHash, since: Timestamp
  ) throws(FileError) -> Bool {
    var isChanged = false
    try change { lines throws(FileError) in
      guard let index = Self.index(ofAccount: former.user.id, in: lines),
        var line = lines[index].line, line.resetState == former.resetState
      else { return }
      line.password = password
      line.user.since = since
      lines[index] = (Self.text(of: line, after: lines[index].text), line)
      isChanged = true
    }
    return isChanged
  }

  /// Changes a user's display name, rights or mail address; `nil` leaves the present value, and an
  /// empty address removes it.
  package func set(
    name: String?, rights: [String]?, mail: String? = nil, of user: String
  ) throws(FileError) {
    try require(user)
    if let name { try UserLine.check(name: name) }
    if let mail, !mail.isEmpty { try UserLine.check(mail: mail) }
    try change { lines throws(FileError) in
      let index = try index(of: user, in: lines)
      guard var line = lines[index].line else { return }
      if let name { line.user.name = name }
      if let rights { line.rights = rights }
      if let mail { line.mail = mail.isEmpty ? nil : mail }
      lines[index] = (Self.text(of: line, after: lines[index].text), line)
    }
  }

  // MARK: Groups

  /// Sets the rights of a group; adds the group if it does not exist.
  package func put(_ group: GroupLine) throws(FileError) {
    try change { lines throws(FileError) in
      if let index = index(ofGroup: group.name, in: lines) {
        lines[index].text = group.text[...]
        return
      }
      if lines.last?.text.isEmpty ?? false { lines.removeLast() }
      lines.append((group.text[...], nil))
    }
  }

  /// Removes a group, and its users' membership.
  package func removeGroup(_ name: String) throws(FileError) {
    try requireGroup(name)
    try change { lines throws(FileError) in
      if let index = index(ofGroup: name, in: lines) { lines.remove(at: index) }
      for index in lines.indices { Self.setMembership(false, of: name, &lines[index]) }
    }
  }

  /// Adds users to a group, or removes them from it.
  package func setMembership(
    _ isMember: Bool, of group: String, users: [String]
  ) throws(FileError) {
    try requireGroup(group)
    for user in users { try require(user) }
    try change { lines throws(FileError) in
      for user in users {
        Self.setMembership(isMember, of: group, &lines[try index(of: user, in: lines)])
      }
    }
  }

  private static func setMembership(
    _ isMember: Bool, of group: String, _ whole: inout (text: Substring, line: UserLine?)
  ) {
    guard var line = whole.line, line.groups.contains(group) != isMember else { return }
    let word = GroupLine.word(of: group)
    if isMember { line.rights.append(word) } else { line.rights.removeAll { $0 == word } }
    whole = (Self.text(of: line, after: whole.text), line)
  }

  /// Returns the new text of a line, followed by the comment of its old text.
  private static func text(of line: UserLine, after old: Substring) -> Substring {
    let comment = old.drop { $0 != "#" }
    return (line.text + (comment.isEmpty ? "" : " \(comment)"))[...]
  }

  /// Throws unless the file contains the group.
  package func requireGroup(_ name: String) throws(FileError) {
    guard try GroupLine.groups(ofFileAt: path).contains(where: { $0.isNamed(name) }) else {
      throw FileError("\(path) has no such group; parley group list lists those it has")
    }
  }

  private func index(
    ofGroup name: String, in lines: [(text: Substring, line: UserLine?)]
  ) -> Int? {
    lines.firstIndex { whole in
      let words = whole.text.prefix { $0 != "#" }
      guard whole.line == nil, GroupLine.isGroup(words) else { return false }
      return (try? GroupLine(words, place: path))?.isNamed(name) ?? false
    }
  }

  // MARK: Users

  /// Throws unless the file contains the user.
  package func require(_ user: String) throws(FileError) {
    _ = try index(of: user, in: UserLine.lines(of: UserLine.text(ofFileAt: path), path))
  }

  private func index(
    of user: String, in lines: [(text: Substring, line: UserLine?)]
  ) throws(FileError) -> Int {
    guard let index = Self.index(ofAccount: user, in: lines) else {
      throw FileError("\(path) has no such user; parley user list lists those it has")
    }
    return index
  }

  private static func index(
    ofAccount user: String, in lines: [(text: Substring, line: UserLine?)]
  ) -> Int? {
    let wanted = AccountName(user)
    return lines.firstIndex { $0.line.map { AccountName($0.user.id) == wanted } ?? false }
  }

  private func change(
    _ body: (inout [(text: Substring, line: UserLine?)]) throws(FileError) -> Void
  ) throws(FileError) {
    let wasMissing = !Files.isFile(path)
    // Locked until the end, so that no concurrent change is lost.
    let lock = try LockedFile(path: path)
    // Another process may have created the file meanwhile.
    let isNew = wasMissing && lock.isEmpty
    do throws(FileError) {
      var lines = try UserLine.lines(of: UserLine.text(ofFileAt: path), path)
      try body(&lines)
      if !(lines.last?.text.isEmpty ?? false) { lines.append(("", nil)) }
      let text = lines.map(\.text).joined(separator: "\n")
      guard text.utf8.count <= Files.textBytesMax else {
        throw FileError(
          "\(path) would be larger than \(ValueText.text(bytes: Files.textBytesMax)), and not be read"
        )
      }
      try Files.replace(path, with: text, isNew: isNew)
    } catch {
      if isNew { lock.remove() }
      throw error
    }
    lock.syncFolder()
  }
}
