import Gateway
import ParleyGatewayPorts
import ParleyJSON
import ParleyLocks
import SocketMessages

/// Opens links by their keys, and finds the titles for link previews.
///
///     POST /api/links/open   {"key": "…"}
///     GET  /s/…              the page, with the note's title for previews
///     GET  /api/names/…      a published note's token, for its readable name
///     GET  /p/…              the page, with the note's title
///
/// A malformed key slows down further attempts, like a wrong password. A well-formed but unknown
/// key is probably from an ended link, since a guess succeeds once in 2¹²⁸. Many people behind one
/// address may follow such a link, so its failures count only by address, with a higher limit. Used
/// only on the loop's thread.
final class LinkService {
  /// The length of a well-formed key, in bytes.
  private static let keyBytes = 22
  /// Maximum bytes of a key that is looked up.
  private static let keyBytesMax = 64

  private let clock: any Clock
  private let log: any LogSink
  private unowned let gateway: Gateway
  private let attempts: Monitor<LoginAttempts>

  /// - Parameter attempts: The attempts with keys, shared by the loops of the process.
  init(
    clock: any Clock, log: any LogSink, gateway: Gateway, attempts: Monitor<LoginAttempts>
  ) {
    self.clock = clock
    self.log = log
    self.gateway = gateway
    self.attempts = attempts
  }

  /// Answers a request to open a link.
  func answer(
    _ head: RequestHead, _ body: [UInt8], at resource: Resource,
    respond: @escaping (Response) -> Void
  ) {
    guard resource.route(head.method) != nil else { return respond(resource.methodNotAllowed) }
    guard let key = JSONBody.string("key", in: body), Self.isKey(key) else {
      return respond(.problem(400, .badMessage, "expected a JSON object with the link's \"key\""))
    }
    let wait = begin(head, key)
    guard wait == 0 else {
      log.write(.notice, "link refused", [("reason", "too many failures")])
      return respond(Self.tooFast(wait))
    }
    gateway.openLink(key) { [self] outcome in
      switch outcome {
      case .success(let opened?):
        succeeded(head, key)
        var response = Response.json(200, opened.body)
        response.headers.append(("cache-control", "no-store"))
        respond(response)
      case .success(nil):
        failed(head, key)
        log.write(.notice, "link refused", [("reason", "unknown")])
        respond(.problem(404, .unknownDocument, "this link has expired, was ended, or is wrong"))
      case .failure:
        cancelled(head, key)
        respond(.problem(503, .unavailable, "the store cannot do this now; try again later"))
      }
    }
  }

  // MARK: Names

  /// Answers a request to open a published note by its name.
  func answerName(
    _ head: RequestHead, at resource: Resource, respond: @escaping (Response) -> Void
  ) {
    guard resource.route(head.method) != nil else { return respond(resource.methodNotAllowed) }
    find(Self.name(in: head.path, after: Self.namesPrefix), for: head) { [self] outcome in
      switch outcome {
      case .opened(let opened):
        var response = Response.json(200, opened.body)
        response.headers.append(("cache-control", "no-store"))
        respond(response)
      case .unknown:
        log.write(.info, "name refused", [("reason", "unknown")])
        respond(.problem(404, .unknownDocument, "no note is published under this name"))
      case .wait(let milliseconds): respond(Self.tooFast(milliseconds))
      case .failed:
        respond(.problem(503, .unavailable, "the store cannot do this now; try again later"))
      }
    }
  }

  /// Returns a function that finds the published note at a page's address; `nil` for other paths.
  func page(at head: RequestHead) -> ((@escaping (NameOutcome) -> Void) -> Void)? {
    let rest = head.path.dropFirst(Self.pagesPrefix.count)
    guard head.method == "GET", head.path.hasPrefix(Self.pagesPrefix), !rest.contains("/") else {
      return nil
    }
    return { [self] proceed in
      find(Self.name(in: head.path, after: Self.pagesPrefix), for: head, then: proceed)
    }
  }

  /// The result of looking up a published note.
  enum NameOutcome {
    case opened(Gateway.OpenedLink)
    /// No note is published under the name, or the name is malformed.
    case unknown
    /// Too many names were wrong; the client has to wait for this many milliseconds.
    case wait(Int64)
    /// The store cannot be read.
    case failed
  }

  /// Finds a published note. Unknown names count only by address, like keys of ended links.
  private func find(
    _ name: ReadableName?, for head: RequestHead, then proceed: @escaping (NameOutcome) -> Void
  ) {
    let address = head.remoteAddress
    let wait = attempts.withLock { $0.begin(address: address, user: nil, now: clock.uptime) }
    guard wait == 0 else { return proceed(.wait(wait)) }
    func end(_ outcome: NameOutcome) {
      attempts.withLock {
        if case .unknown = outcome {
          $0.failed(address: address, user: nil, now: clock.uptime)
        } else {
          $0.cancelled(address: address, user: nil)
        }
      }
      proceed(outcome)
    }
    guard let name else { return end(.unknown) }
    gateway.openName(name) { outcome in
      switch outcome {
      case .success(let opened?): end(.opened(opened))
      case .success(nil): end(.unknown)
      case .failure: end(.failed)
      }
    }
  }

  private static func name(in path: String, after prefix: String) -> ReadableName? {
    PercentEncoding.decoded(path.dropFirst(prefix.count)).flatMap { try? ReadableName($0) }
  }

  private static let namesPrefix = "/api/names/"
  private static let pagesPrefix = "/p/"

  private static func tooFast(_ wait: Int64) -> Response {
    var response = Response.problem(
      429, .tooFast, "too many links and names were wrong; try again later")
    response.headers.append(("retry-after", "\((wait + 999) / 1_000)"))
    return response
  }

  // MARK: Previews

  /// Finds the title for a preview of a page; `nil` if the address alone does not open the note.
  func title(at head: RequestHead, then proceed: @escaping (String?) -> Void) {
    if let key = Self.key(in: head.path) {
      guard Self.isKey(key), begin(head, key) == 0 else { return proceed(nil) }
      gateway.openLink(key) { [self] outcome in
        switch outcome {
        case .success(let opened?):
          succeeded(head, key)
          proceed(opened.title)
        case .success(nil):
          failed(head, key)
          proceed(nil)
        case .failure:
          cancelled(head, key)
          proceed(nil)
        }
      }
    } else if let note = PercentEncoding.decoded(head.path.dropFirst(Self.notePrefix.count)) {
      gateway.openTitle(of: DocumentID(note), then: proceed)
    } else {
      proceed(nil)
    }
  }

  private static let prefix = "/s/"
  private static let notePrefix = "/n/"

  /// Whether a path belongs to a page that may have a title in previews.
  static func isPreviewed(_ path: String) -> Bool {
    path.hasPrefix(prefix) || path.hasPrefix(notePrefix)
  }

  private static func key(in path: String) -> String? {
    path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : nil
  }

  private static func isKey(_ key: String) -> Bool { (1...keyBytesMax).contains(key.utf8.count) }

  // MARK: Attempts

  /// Begins an attempt with a key. Failures of malformed keys delay well-formed ones too.
  ///
  /// - Returns: The milliseconds to wait; 0 if the attempt has begun.
  private func begin(_ head: RequestHead, _ key: String) -> Int64 {
    attempts.withLock {
      let address = head.remoteAddress
      let now = clock.uptime
      let wait = $0.wait(address: address, user: Identity.guestPrefix, now: now)
      return wait > 0 ? wait : $0.begin(address: address, user: Self.attempted(key), now: now)
    }
  }

  private func failed(_ head: RequestHead, _ key: String) {
    attempts.withLock {
      $0.failed(address: head.remoteAddress, user: Self.attempted(key), now: clock.uptime)
    }
  }

  private func cancelled(_ head: RequestHead, _ key: String) {
    attempts.withLock { $0.cancelled(address: head.remoteAddress, user: Self.attempted(key)) }
  }

  private func succeeded(_ head: RequestHead, _ key: String) { cancelled(head, key) }

  /// Returns the user name for counting an attempt; `nil` for a well-formed key.
  private static func attempted(_ key: String) -> String? {
    key.utf8.count == keyBytes ? nil : Identity.guestPrefix
  }
}
