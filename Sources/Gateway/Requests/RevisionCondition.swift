/// The revision that `If-Match` requires; any, for a missing or empty header.
enum RevisionCondition {
  case any
  case revision(Int)
  case broken

  init(_ header: String?) {
    guard let header, !header.isEmpty, header != "*" else {
      self = .any
      return
    }
    // Quotes are optional, because shells often remove them.
    let parts = header.split(separator: "\"", omittingEmptySubsequences: false)
    let isQuoted = parts.count == 3 && parts[0].isEmpty && parts[2].isEmpty
    // A note's entity tag has a hash after the revision.
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

  /// Whether a text has the form of the hash in a note's entity tag.
  private static func isMark(_ text: Substring) -> Bool {
    (1...7).contains(text.utf8.count)
      && text.utf8.allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x7a ~= $0 }
  }
}
