import Gateway
import ParleyGatewayPorts
import ParleyGrowthKit
import ParleyJSON
import OTCore
import ParleySimulationKit
import SocketMessages
import ParleyWebSocketFrames

/// A gateway that measures the processor time of each of its turns, without the store's.
///
/// Rates are not limited; sizes have their defaults. Document `d` and room `r` exist.
final class TimedRig {
  /// A token that grants everything.
  static let token = "all"
  /// An API key of an operator.
  static let key = "pk_operator"
  static let document = "d"
  static let room = "r"

  private let clock = VirtualClock()
  private let gateway: Gateway
  private let store = MemoryStore(losableCommitsMax: 0)
  private var nextID: UInt64 = 1
  /// The nanoseconds of the longest turn since ``begin()``.
  private(set) var longest: UInt64 = 0
  /// Frames sent since ``begin()``, as text; long frames are left out.
  private(set) var frames: [String] = []
  private(set) var responses: [Response] = []
  private(set) var closes: [UInt16] = []

  init() {
    var settings = GatewaySettings()
    settings.isDemo = false
    settings.dialects.pusher.apps = [PusherShop.app]
    let rates: [WritableKeyPath<Limits, Int>] = [
      \.messagesPerSecondMax, \.bytesPerSecondMax, \.userConnectionsMax,
      \.userConnectsPerSecondMax, \.userMessagesPerSecondMax, \.userBytesPerSecondMax,
      \.userRequestsPerSecondMax, \.addressConnectionsMax, \.addressConnectsPerSecondMax,
      \.addressMessagesPerSecondMax, \.addressBytesPerSecondMax, \.addressRequestsPerSecondMax,
    ]
    for rate in rates { settings.limits[keyPath: rate] = 0 }
    settings.limits.signsPerSecondMax = 1_000_000
    let book = TokenBook()
    gateway = Gateway(
      settings: settings,
      dependencies: Gateway.Dependencies(
        clock: clock, names: SeededNames(prefix: "g"), tokens: PlainTokens(), log: NoLog(),
        authenticator: book, apiKeys: KeyBook(), ownTokens: OwnTokenBook(),
        revocations: RevocationList(), queuedBytes: { _ in 0 }))
    _ = store.perform([
      .create(id: DocumentID(Self.document), epoch: "epoch of d", title: "d", time: clock.now)
    ]
    )
    book.enter(
      Self.token, user: "ann", name: "Ann", tokenID: "t",
      [
        Grant(.documents, NamePattern("*"), .all), Grant(.rooms, NamePattern("*"), .all),
        Grant(.folders, NamePattern("**"), .all),
      ])
  }

  /// Creates notes in the store.
  func make(notes count: Int) {
    _ = store.perform(
      (0..<count).map {
        .create(id: "note \($0)", epoch: "e", title: "The note \($0)", time: Timestamp($0))
      })
  }

  /// Begins a measurement.
  func begin() {
    longest = 0
    frames = []
    responses = []
    closes = []
  }

  // MARK: Events

  /// Opens a connection.
  func open(_ opening: ClientKind = .native, token: String? = nil) -> ConnectionID {
    defer { nextID += 1 }
    let id = ConnectionID(nextID)
    turn { gateway.opened(id, as: opening, token: token, limitedBy: nil) }
    return id
  }

  func close(_ id: ConnectionID) { turn { gateway.closed(id) } }

  func receive(_ bytes: [UInt8], on id: ConnectionID) {
    bytes.withUnsafeBytes { bytes in
      turn { gateway.received(id, message: bytes, kind: .text) }
    }
  }

  func receive(_ text: String, on id: ConnectionID) { receive(Array(text.utf8), on: id) }

  /// Makes a request.
  func request(
    _ method: String, _ path: String, query: String = "", headers: [String: String] = [:],
    _ body: [UInt8] = []
  ) {
    let head = RequestHead(
      method: method, path: path, query: query, headers: headers, remoteAddress: "192.0.2.1")
    let id = RequestID(nextID)
    nextID += 1
    turn { _ = gateway.request(id, head: head, body: body) }
  }

  // MARK: Turns

  /// Measures a turn, and the turns that follow from it.
  private func turn(_ event: () -> Void) {
    var actions: [GatewayAction] = []
    var rest: Int?
    measure {
      event()
      rest = gateway.endTurn()
      actions = gateway.takeActions()
    }
    while true {
      for action in actions { perform(action) }
      guard let pause = rest else { return }
      if pause > 0 { clock.advance(milliseconds: Int64(pause)) }
      measure {
        rest = gateway.endTurn()
        actions = gateway.takeActions()
      }
    }
  }

  /// Measures work on the loop's thread outside the gateway.
  func work(_ work: () -> Void) { measure(work) }

  private func measure(_ work: () -> Void) {
    let start = ThreadClock.nanoseconds
    work()
    longest = max(longest, ThreadClock.nanoseconds - start)
  }

  private func perform(_ action: GatewayAction) {
    switch action {
    case .send(let frame, _): keep(frame)
    case .broadcast(let frame, _): keep(frame)
    case .close(let connection, let code, _):
      closes.append(code.rawValue)
      turn { gateway.closed(connection) }
    case .respond(_, let response): responses.append(response)
    case .search(let request, let search):
      let reply: SearchReply =
        switch search {
        case .find, .tagged: .ids([])
        case .tags: .tags([], isCut: false)
        case .places: .hits([])
        }
      turn { gateway.searched(request, reply: reply) }
    case .gather(let request, _, _, let answer): turn { gateway.gathered(request, answer) }
    case .admit, .count, .publish, .follow, .leave, .forget: break
    case .store(let ticket, let request):
      for reply in store.perform([request]) { turn { gateway.stored(ticket, reply: reply) } }
    }
  }

  private func keep(_ frame: Frame) {
    guard frame.byteCount < 4_096 else { return }
    frames.append(String(decoding: frame.payload, as: UTF8.self))
  }
}
