package import ParleyGatewayPorts
import ParleyJSON

/// A line of a file of users that grants rights to a group of them.
///
///     @team folder:team/*=read,write,presence,manage
///     ada@example.org scrypt$15$8$1$… group:team
///
/// A user has the rights of all their groups and their own. A group without a line grants none.
package struct GroupLine: Sendable, Equatable {
  /// The group's name.
  package let name: String
  /// The rights, as written in the file.
  package let rights: [String]
  /// The parsed rights.
  package let grants: [Grant]

  /// Whether the group has this name, compared byte by byte.
  func isNamed(_ other: String) -> Bool { name.isExactly(other) }

  private static let mark = "@"
  private static let word = "group:"

  /// Creates the line of a group.
  package init(name: String, rights: [String]) throws(FileError) {
    guard UserLine.isName(name) else {
      throw FileError(
        "expected a group's name without blanks, # and invisible characters, and no - at its beginning"
      )
    }
    let text = ([Self.mark + name] + rights).joined(separator: " ")
    self = try Self(text[...], place: "the arguments")
  }

  /// The line, as written in the file.
  package var text: String { ([Self.mark + name] + rights).joined(separator: " ") }

  /// Whether a line belongs to a group; a user's line has a password.
  static func isGroup(_ line: Substring) -> Bool {
    let words = line.split { $0 == " " || $0 == "\t" }
    guard let first = words.first, first.hasPrefix(mark) else { return false }
    return words.count < 2 || !words[1].hasPrefix("scrypt$")
  }

  /// Returns the group name in a word such as `group:team`; `nil` for another word.
  static func groupName(_ word: String) -> String? {
    guard word.hasPrefix(Self.word) else { return nil }
    let name = String(word.dropFirst(Self.word.count))
    return UserLine.isName(name) ? name : nil
  }

  /// Returns the word that makes a user a member of a group.
  static func word(of group: String) -> String { word + group }

  /// Parses a line.
  init(_ line: Substring, place: String) throws(FileError) {
    let words = line.split { $0 == " " || $0 == "\t" }.map(String.init)
    guard let first = words.first, first.hasPrefix(Self.mark),
      UserLine.isName(String(first.dropFirst()))
    else { throw FileError("\(place): expected @GROUP and rights such as folder:team/*=read") }
    name = String(first.dropFirst())
    rights = Array(words.dropFirst())
    var grants: [Grant] = []
    for word in rights {
      do throws(GrantTextError) {
        grants.append(try Grant(word: word))
      } catch {
        throw FileError(
          "\(place): expected folder:MATCH=MAY, document:MATCH=MAY or room:MATCH=MAY: \(error)")
      }
    }
    self.grants = grants
  }

  /// Reads the groups in a file of users.
  package static func groups(ofFileAt path: String) throws(FileError) -> [GroupLine] {
    try groups(of: UserLine.text(ofFileAt: path), path)
  }

  static func groups(of text: String, _ path: String) throws(FileError) -> [GroupLine] {
    var found: [GroupLine] = []
    let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    for (index, whole) in lines.enumerated() {
      let words = whole.prefix { $0 != "#" }
      guard isGroup(words) else { continue }
      let line = try GroupLine(words, place: "\(path):\(index + 1)")
      guard !found.contains(where: { $0.name.isExactly(line.name) }) else {
        throw FileError("\(path):\(index + 1): this group is in the file twice")
      }
      found.append(line)
    }
    return found
  }
}
