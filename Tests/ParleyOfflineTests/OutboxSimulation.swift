import Foundation
import ParleyJSON
import ParleyOTWorkloads
import Testing

import ParleyOffline

/// A server that keeps things, and answers of keys.
struct ModelServer {
  struct Thing: Equatable {
    var fields: [String: String]
    var actions: [String] = []
    let owner: String
  }

  private(set) var things: [String: Thing] = [:]
  private var answers: [String: (MutationRequest, MutationAnswer)] = [:]
  private var lastID = 0
  private(set) var repeated = 0
  var violations: [String] = []

  mutating func take(_ request: MutationRequest) -> MutationAnswer {
    if let (first, answer) = answers[request.key] {
      if first != request { violations.append("two requests under \(request.key)") }
      repeated += 1
      return answer
    }
    let answer = make(request)
    answers[request.key] = (request, answer)
    return answer
  }

  private mutating func make(_ request: MutationRequest) -> MutationAnswer {
    if request.body.contains(UInt8(ascii: "$")) { violations.append("a reference was sent") }
    let new = JSONValue(request.body)?.fields?.all.map { ($0.name, text($0.value.utf8)) } ?? []
    if request.kind == .create {
      lastID += 1
      let id = "s\(lastID)"
      things[id] = Thing(fields: Dictionary(new) { $1 }, owner: request.user)
      return .done(id: ResourceID(id))
    }
    guard let id = request.id?.description, var thing = things[id] else {
      violations.append("\(request.kind) of a thing that is not there")
      return .refused(status: 404)
    }
    if thing.owner != request.user { violations.append("\(request.user) changed another's thing") }
    switch request.kind {
    case .create, .update: thing.fields.merge(new) { $1 }
    case .delete:
      things[id] = nil
      return .done()
    case .action(let name): thing.actions.append(name + text(request.body))
    }
    things[id] = thing
    return .done()
  }
}

/// An app's life from one seed: changes, lost requests and answers, refusals, kills, users.
struct OutboxSimulation {
  private struct Wish {
    let user: String
    let draft: MutationDraft
  }

  private var random: SplitMix64
  private var machine: OutboxMachine
  private var disk = Disk()
  private var server = ModelServer()
  private var network: [MutationRequest] = []
  private var now: Int64 = 0
  private var user = "ann"
  private var wishes: [Wish] = []
  private var alive: [String: [ResourceID]] = [:]
  private var keys = 0
  private(set) var kills = 0
  private(set) var violations: [String] = []

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
    machine = OutboxMachine(user: user, seed: seed)
  }

  var repeated: Int { server.repeated }

  mutating func run(steps: Int) {
    for _ in 0..<steps { step() }
    settle()
    compare()
    violations += server.violations
  }

  private mutating func freshKey() -> String {
    keys += 1
    return "k\(keys)"
  }

  private mutating func step() {
    now += Int64(random.below(3_000))
    switch random.below(100) {
    case 0..<40: change()
    case 40..<75: deliver(isSafe: false)
    case 75..<80: perform(.reachable)
    case 80..<88: if machine.wakeAt.map({ $0 <= now }) ?? false { perform(.wake) }
    case 88..<92: decide()
    case 92..<95:
      user = user == "ann" ? "ben" : "ann"
      perform(.user(user))
    case 95..<96: perform(.token(isThere: true))
    case 96..<97: perform(.fetched(resource: "contacts"))
    default: kill()
    }
  }

  /// Does what the machine asks for, and may be killed before any of it.
  ///
  /// - Returns: Whether the event was kept.
  @discardableResult
  private mutating func perform(_ event: OutboxMachine.Event, isSafe: Bool = false) -> Bool {
    let actions: [OutboxMachine.Action]
    do throws(OutboxError) {
      actions = try machine.handle(event, now: now)
    } catch {
      violations.append("\(error)")
      return false
    }
    var isKept = false
    for action in actions {
      if !isSafe, random.chance(4) {
        kill()
        return isKept
      }
      switch action {
      case .keep(let writes):
        disk.write(writes)
        isKept = true
      case .send(let request):
        if request.user != user { violations.append("sent as another user") }
        network.append(request)
      case .needToken, .wake, .news: break
      }
    }
    return isKept
  }

  private mutating func kill() {
    kills += 1
    // Requests on their way arrive, or do not; their answers are lost.
    for request in network where random.chance(60) { _ = server.take(request) }
    network = []
    machine = OutboxMachine(disk.kept, user: user, seed: random.next())
  }

  private mutating func change() {
    let own = alive[user] ?? []
    let wish: Wish
    func body(_ more: JSONFields.Field...) -> [UInt8] { JSONFields(more).json }
    let value = JSONValue(random.below(1_000))
    let name = "f\(random.below(3))"
    if own.isEmpty || random.chance(25) {
      let id = ResourceID.temporary()
      let mark = JSONValue(id.description)
      wish = Wish(
        user: user,
        draft: MutationDraft(.create, "c", id, body: body(.init("mark", mark), .init(name, value))))
    } else {
      let id = own[random.below(own.count)]
      let kind = random.below(100)
      let draft =
        switch kind {
        case 0..<40: MutationDraft(.update, "c", id, body: body(.init(name, value)))
        case 40..<55:
          MutationDraft(
            .update, "c", id, body: body(.init("friend", own[random.below(own.count)].json)))
        case 55..<85: MutationDraft(.action("say"), "c", id, body: body(.init("v", value)))
        default: MutationDraft(.delete, "c", id)
        }
      wish = Wish(user: user, draft: draft)
    }
    guard perform(.enqueue(wish.draft, key: freshKey())) else { return }
    // The app was notified that it is kept, or would find it kept.
    wishes.append(wish)
    switch wish.draft.kind {
    case .create: alive[wish.user, default: []].append(wish.draft.id)
    case .delete: alive[wish.user]?.removeAll { $0 == wish.draft.id }
    case .update, .action: break
    }
  }

  private mutating func deliver(isSafe: Bool) {
    guard !network.isEmpty else { return }
    let request = network.remove(at: random.below(network.count))
    let answer: MutationAnswer
    switch isSafe ? 99 : random.below(100) {
    case 0..<10: answer = .unreachable
    case 10..<25:
      _ = server.take(request)
      answer = .unreachable
    case 25..<32: answer = .busy(retryAfter: random.chance(50) ? 5_000 : nil)
    case 32..<37: answer = .unauthorised
    case 37..<39: answer = .noToken
    case 39..<45: answer = refusal(of: request, .conflict())
    case 45..<50: answer = refusal(of: request, .refused(status: 422))
    default: answer = server.take(request)
    }
    perform(.answered(key: request.key, answer), isSafe: isSafe)
  }

  /// A server that has made a change does not refuse it afterwards: it repeats its answer.
  private mutating func refusal(
    of request: MutationRequest, _ refusal: MutationAnswer
  ) -> MutationAnswer {
    var trial = server
    let answer = trial.take(request)
    if trial.repeated > server.repeated {
      server = trial
      return answer
    }
    return refusal
  }

  private mutating func decide(isSafe: Bool = false) {
    guard let problem = machine.undecided.first else { return }
    let decision: MutationDecision =
      random.chance(50) ? .retry : .send(body: problem.draft.body, base: nil)
    perform(.decide(key: problem.key, decision, freshKey: freshKey()), isSafe: isSafe)
  }

  /// Everything works from here on.
  private mutating func settle() {
    for person in ["ann", "ben"] {
      user = person
      perform(.user(person), isSafe: true)
      var rounds = 0
      while !machine.waiting.isEmpty, rounds < 10_000 {
        rounds += 1
        now += 100_000
        while !machine.undecided.isEmpty { decide(isSafe: true) }
        perform(.token(isThere: true), isSafe: true)
        perform(.reachable, isSafe: true)
        while !network.isEmpty { deliver(isSafe: true) }
      }
      if !machine.waiting.isEmpty { violations.append("left: \(machine.waiting)") }
    }
    if !disk.entries.isEmpty { violations.append("the disk still has changes") }
  }

  /// The server holds the result of the wishes, made one by one.
  private mutating func compare() {
    var expected: [String: ModelServer.Thing] = [:]
    for wish in wishes {
      let mark = wish.draft.id.description
      let new = JSONValue(wish.draft.body)?.fields?.all ?? []
      let fields = Dictionary(new.map { ($0.name, text($0.value.utf8)) }) { $1 }
      switch wish.draft.kind {
      case .create: expected[mark] = ModelServer.Thing(fields: fields, owner: wish.user)
      case .update: expected[mark]?.fields.merge(fields) { $1 }
      case .delete: expected[mark] = nil
      case .action(let name): expected[mark]?.actions.append(name + text(wish.draft.body))
      }
    }
    var found: [String: ModelServer.Thing] = [:]
    var marks: [String: String] = [:]
    for (name, id) in disk.aliases { marks[text(id.json.utf8)] = name }
    for (id, thing) in server.things {
      var thing = thing
      if let friend = thing.fields["friend"], let name = marks[friend] {
        thing.fields["friend"] = text(ResourceID(.temporary(name)).json.utf8)
      }
      let mark = JSONValue((thing.fields["mark"] ?? "").utf8)?.string ?? id
      if found.updateValue(thing, forKey: mark) != nil { violations.append("\(mark) came twice") }
    }
    if found != expected {
      for (mark, thing) in expected where found[mark] != thing {
        violations.append("expected \(thing), found \(String(describing: found[mark]))")
      }
      for mark in found.keys where expected[mark] == nil { violations.append("\(mark) is there") }
    }
  }
}

@Suite("An outbox's life")
struct OutboxSimulationTests {
  /// `OUTBOX_SEEDS`, for long runs.
  private static let seeds =
    ProcessInfo.processInfo.environment["OUTBOX_SEEDS"].flatMap { UInt64($0) } ?? 400

  @Test("killed between any two actions, each change is made once, in the order of its thing")
  func kills() {
    var kills = 0
    var repeated = 0
    for seed in 1...Self.seeds {
      var simulation = OutboxSimulation(seed: seed)
      simulation.run(steps: 150)
      #expect(simulation.violations.isEmpty, "seed \(seed): \(simulation.violations.prefix(3))")
      kills += simulation.kills
      repeated += simulation.repeated
      if !simulation.violations.isEmpty { break }
    }
    // The seeds reach what they are for.
    #expect(kills > 1_000)
    #expect(repeated > 100)
  }
}
