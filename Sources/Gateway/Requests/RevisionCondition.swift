/// The revision that `If-Match` asks for; a header without a value asks for nothing.
enum RevisionCondition {
  case any
  case revision(Int)
  case broken

  init(_ header: String?) {
    guard let header, !header.isEmpty, header != "*" else {
      self = .any
      return
    }
    // The quotes are easily lost on the way through a shell.
    let parts = header.split(separator: "\"", omittingEmptySubsequences: false)
    let isQuoted = parts.count == 3 && parts[0].isEmpty && parts[2].isEmpty
    // The tag of a note itself has a mark of its title behind the revision.
    let tag = parts[isQuoted ? 1 : 0].split(
      separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard isQuoted || parts.count == 1, tag.count == 1 || isQuoted && Self.isMark(tag[1]),
      let number = QueryFields.wholeNumber(tag[0])
    else {
      self = .broken
      return
    }
    self = .revision(number)
  }

  /// Whether a text has the form of a hash in the tag of a note.
  private static func isMark(_ text: Substring) -> Bool {
    (1...7).contains(text.utf8.count)
      && text.utf8.allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x7a ~= $0 }
  }
}
