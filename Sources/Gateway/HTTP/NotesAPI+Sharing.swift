import ParleyGatewayPorts
import SocketMessages

/// Requests for a link to a note. ``Links`` creates, lists, ends and opens links.
extension NotesAPI {
  /// Minimum and maximum lifetime of a link, in seconds.
  private static let shareSeconds = 60...(366 * 86_400)
  /// Default lifetime of a link, in seconds.
  private static let shareSecondsDefault = 7 * 86_400

  func share(_ call: Call) throws(Response) {
    let (request, id) = (call.request, call.note)
    guard access.makesTokens else { throw Links.notOffered }
    guard let fields = AccessJSON.fields(in: call.body),
      let level = fields.access.flatMap(NoteLink.Access.init(word:))
    else {
      throw .problem(
        400, .badMessage,
        "expected a JSON object with \"access\": \"read\", \"comment\" or \"write\"")
    }
    let seconds = fields.expiresIn ?? Self.shareSecondsDefault
    guard Self.shareSeconds.contains(seconds) else {
      throw .problem(
        400, .badMessage,
        "expected expiresIn from \(Self.shareSeconds.lowerBound) to "
          + "\(Self.shareSeconds.upperBound) seconds")
    }
    // A link grants only rights that the caller has.
    let right = try access.require(level.verbs.union(.manage), note: id, of: call.identity)
    func link(_ stamp: TokenStamp) -> NoteLink {
      NoteLink(
        id: NoteLink.idPrefix + stamp.id, note: id, access: level,
        maker: call.identity.user, createdAt: stamp.time,
        expiresAt: stamp.time + Timestamp(seconds) * 1_000)
    }
    // A repeated request gets the same response, and creates no second link.
    let isRepeated = once.hasStamp(request)
    let stamp = once.tokenStamp(for: request) { links.guest(of: link($0)) }
    try links.make(link(stamp), request, under: right, isRepeated: isRepeated) {
      once.keeping(
        audited($0, .makeLink, call.name, detail: "\(link(stamp).id) \(level.word)", by: call),
        for: request, Links.answer(to:))
    }
  }
}
