import Gateway
import GatewayPorts
import JSON
import Locks
import SocketMessages

/// Opening links by their keys, and what a link's address shows where it is pasted.
///
///     POST /api/links/open   {"key": "…"}
///     GET  /s/…              the page, with the note's title for who makes a preview
///
/// A text that is no key slows down whoever sends it, as wrong passwords do. One that could be a key is of a link that
/// has ended rather than a guess, which would hit one in 2¹²⁸: many people may follow it from behind one address, so it
/// counts by address alone. Used on the loop's thread.
final class LinkService {
  /// The name under which wrong keys are counted, whichever they are.
  private static let attempted = Identity.guestPrefix
  /// Bytes of the keys that are given out.
  private static let keyBytes = 22
  /// Longer keys are none.
  private static let keyBytesMax = 64

  private let clock: any Clock
  private let log: any LogSink
  private unowned let gateway: Gateway
  private let attempts: Monitor<LoginAttempts>

  /// - Parameter attempts: Keys that were wrong, which the loops of the process count together.
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
    let wait = wait(head)
    guard wait == 0 else {
      log.write(.notice, "link refused", [("reason", "too many failures")])
      var response = Response.problem(
        429, .tooFast, "too many links were wrong; try again later")
      response.headers.append(("retry-after", "\((wait + 999) / 1_000)"))
      return respond(response)
    }
    gateway.openLink(key) { [self] outcome in
      switch outcome {
      case .success(let opened?):
        var response = Response.json(200, opened.body)
        response.headers.append(("cache-control", "no-store"))
        respond(response)
      case .success(nil):
        failed(head, key)
        log.write(.notice, "link refused", [("reason", "unknown")])
        respond(.problem(404, .unknownDocument, "this link has ended, or never was"))
      case .failure:
        respond(.problem(503, .unavailable, "the store cannot do this now; try again later"))
      }
    }
  }

  /// Finds the title that a page's address shows; `nil` where the address alone does not give it.
  func title(at head: RequestHead, then goOn: @escaping (String?) -> Void) {
    if let key = Self.key(in: head.path) {
      guard Self.isKey(key), wait(head) == 0 else { return goOn(nil) }
      gateway.openLink(key) { [self] outcome in
        switch outcome {
        case .success(let opened?): goOn(opened.title)
        case .success(nil):
          failed(head, key)
          goOn(nil)
        case .failure: goOn(nil)
        }
      }
    } else if let note = PercentEncoding.decoded(head.path.dropFirst(Self.notePrefix.count)) {
      gateway.openTitle(of: note, then: goOn)
    } else {
      goOn(nil)
    }
  }

  private static let prefix = "/s/"
  private static let notePrefix = "/n/"

  /// Whether a path is a page's that may show a title.
  static func isPreviewed(_ path: String) -> Bool {
    path.hasPrefix(prefix) || path.hasPrefix(notePrefix)
  }

  private static func key(in path: String) -> String? {
    path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : nil
  }

  private static func isKey(_ key: String) -> Bool { (1...keyBytesMax).contains(key.utf8.count) }

  private func wait(_ head: RequestHead) -> Int64 {
    attempts.withLock {
      $0.wait(address: head.remoteAddress, user: Self.attempted, now: clock.uptime)
    }
  }

  private func failed(_ head: RequestHead, _ key: String) {
    let couldBeOne = key.utf8.count == Self.keyBytes
    let attempted = couldBeOne ? nil : Self.attempted
    attempts.withLock {
      $0.failed(address: head.remoteAddress, user: attempted, now: clock.uptime)
    }
  }
}
