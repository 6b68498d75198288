import ParleyJSON
import ParleyOTWorkloads
import Testing

import ParleyOffline

/// A body of one or two fields.
func fields(_ all: (String, JSONValue)...) -> [UInt8] {
  JSONFields(all.map { .init($0.0, $0.1) }).json
}

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

/// A machine with a disk, without a server: a test reads what would be sent, and answers.
struct Bench {
  var machine: OutboxMachine
  var disk = Disk()
  var sent: [MutationRequest] = []
  var news: [OutboxMachine.News] = []
  var wakeAt: Int64?
  var tokensAsked = 0
  var now: Int64 = 0
  private var keys = 0
  let settings: OutboxSettings

  init(user: String = "ann", settings: OutboxSettings = OutboxSettings()) {
    self.settings = settings
    machine = OutboxMachine(user: user, settings: settings, seed: 1)
  }

  mutating func handle(_ event: OutboxMachine.Event) throws(OutboxError) {
    for action in try machine.handle(event, now: now) {
      switch action {
      case .keep(let writes): disk.write(writes)
      case .send(let request): sent.append(request)
      case .needToken: tokensAsked += 1
      case .wake(let at): wakeAt = at
      case .news(let one): news.append(one)
      }
    }
  }

  /// Adds a change; returns its key.
  @discardableResult
  mutating func add(
    _ kind: MutationKind, _ id: ResourceID, _ body: String = "{}", base: String? = nil,
    lane: String = ""
  ) throws(OutboxError) -> String {
    keys += 1
    let key = "k\(keys)"
    try handle(
      .enqueue(
        MutationDraft(kind, "contacts", id, body: Array(body.utf8), base: base, lane: lane),
        key: key))
    return key
  }

  mutating func answer(_ answer: MutationAnswer, to key: String? = nil) throws {
    let key = try #require(key ?? sent.last?.key)
    try handle(.answered(key: key, answer))
  }

  mutating func decide(_ key: String, _ decision: MutationDecision) throws(OutboxError) {
    keys += 1
    try handle(.decide(key: key, decision, freshKey: "k\(keys)"))
  }

  /// Ends the process, and begins another from the disk.
  mutating func restart(user: String = "ann") throws {
    machine = OutboxMachine(disk.kept, user: user, settings: settings, seed: 2)
    sent = []
    try handle(.reachable)
  }

  /// The network is lost: requests get no answer, and none is sent for a long time.
  mutating func goOffline() throws {
    let key = try add(.action("ping"), "offline", lane: "")
    try answer(.unreachable, to: key)
    try handle(.enqueue(MutationDraft(.action("x"), "other", "y"), key: "extra"))
    sent = []
  }

  /// Requests that are sent, as `kind id body`.
  var lines: [String] {
    sent.map { "\($0.kind.word) \($0.id?.description ?? "-") \(text($0.body))" }
  }
}

extension MutationKind {
  var word: String {
    switch self {
    case .create: "create"
    case .update: "update"
    case .delete: "delete"
    case .action(let name): name
    }
  }
}

/// State that a process leaves to the next.
struct Disk {
  private(set) var entries: [Int64: Mutation] = [:]
  private(set) var aliases: [(name: String, id: ResourceID)] = []
  private(set) var applied: [OutboxMachine.Write] = []

  mutating func write(_ writes: [OutboxMachine.Write]) {
    for write in writes {
      switch write {
      case .put(let entry): entries[entry.number] = entry
      case .remove(let number): entries[number] = nil
      case .alias(let name, let id): aliases.append((name, id))
      case .dropAlias(let name): aliases.removeAll { $0.name == name }
      case .adopted, .applied: applied.append(write)
      }
    }
  }

  var kept: OutboxMachine.Kept {
    OutboxMachine.Kept(entries: Array(entries.values), aliases: aliases)
  }
}
