import OTCore
import ParleyOTWorkloads
import ParleyClientCore
import SocketMessages
import Testing

/// A server that says anything at any time, a person who types all the while, and a line that breaks.
@Suite("A client of any server")
struct AnyServerTests {
  /// A run from one seed.
  private struct Run {
    var random: SplitMix64
    var rig = Rig(usesTokens: false)
    /// Scalars of which each is typed once.
    var typed: [Unicode.Scalar] = []
    /// Whether the server may say that it has stored something.
    let mayAcknowledge: Bool
    var revision = 0

    init(seed: UInt64, mayAcknowledge: Bool) {
      random = SplitMix64(seed: seed)
      self.mayAcknowledge = mayAcknowledge
    }

    mutating func step() {
      switch random.below(20) {
      case 0: rig.handle(.start)
      case 1: rig.handle(.opened)
      case 2: rig.welcome(as: random.chance(70) ? "A" : "B")
      case 3: rig.handle(random.chance(30) ? .closed(code: closeCode()) : .reachable)
      case 4, 5, 6, 7: type()
      case 8: rig.pass(Int64(random.below(3_000)))
      case 9: rig.note(noteEvent())
      default: serverSays()
      }
    }

    private mutating func closeCode() -> UInt16 { [1006, 4001, 4502, 4507][random.below(4)] }

    private mutating func noteEvent() -> NoteEvent {
      switch random.below(7) {
      case 0: .reopen
      case 1: .retryRefused
      case 2: .sendAgain
      case 3: .keepFailed
      case 4: .kept(took: Int64(random.below(1_000)))
      // One that does not fit what is there.
      case 5:
        .edit(operation(on: 1 + (rig.machine.document(of: "n")?.scalarCount ?? 0)))
      default: .select([Selection(anchor: random.below(9), head: random.below(9) - 4)])
      }
    }

    private mutating func type() {
      guard let length = rig.machine.document(of: "n")?.scalarCount,
        let mark = Unicode.Scalar(0xf0000 + UInt32(typed.count))
      else { return }
      let place = random.below(length + 1)
      var operation = TextOperation()
      operation.retain(place)
      operation.insert(String(Character(mark)))
      operation.retain(length - place)
      rig.note(.edit(operation))
      typed.append(mark)
    }

    private mutating func operation(on length: Int) -> TextOperation {
      var operation = TextOperation()
      let place = random.below(length + 1)
      operation.retain(place)
      if random.chance(50) {
        operation.insert("s")
        operation.retain(length - place)
      } else {
        operation.delete(length - place)
      }
      return operation
    }

    private mutating func number(_ usual: Int) -> Int {
      switch random.below(8) {
      case 0: random.below(20) - 3
      case 1: [Int.max, .max - 1, .min, 1 << 53, -1][random.below(5)]
      default: usual
      }
    }

    private mutating func serverSays() {
      let known = rig.machine.revision(of: "n")
      revision = Int(known?.revision ?? 0)
      let epoch = random.chance(90) ? known?.epoch ?? "e" : "f"
      let message: ServerMessage
      switch random.below(14) {
      case 0, 1:
        let text = String(repeating: "t", count: random.below(9))
        message = .joined(Rig.joined(.text(text), epoch, number(revision + 3), last()))
      case 2, 3:
        let changes = (0..<random.below(3)).map { _ in anyChange() }
        message = .joined(
          Rig.joined(.changes(changes), epoch, number(revision + changes.count), last()))
      case 4, 5, 6:
        message = .changes(
          .init(
            documentID: "n", revision: number(revision + 1),
            changes: (0..<random.below(3)).map { _ in anyChange() }))
      case 7:
        message = .refused(
          .init(
            documentID: "n", sequence: sequence(),
            code: ErrorCode.allCases[random.below(ErrorCode.allCases.count)], message: "",
            retryable: random.chance(50), retryAfter: random.chance(50) ? number(5) : nil))
      case 8:
        message = .resync(
          .init(
            documentID: "n", reason: .lagging, epoch: epoch, revision: number(revision + 2),
            text: String(repeating: "r", count: random.below(9)), lastSequence: last()))
      case 9:
        message = .error(
          .init(
            code: ErrorCode.allCases[random.below(ErrorCode.allCases.count)], message: "",
            retryable: random.chance(70), retryAfter: number(10)))
      case 10:
        guard mayAcknowledge else { return garble() }
        message = .acknowledged(
          .init(documentID: "n", sequence: sequence(), revision: number(revision + 1)))
      case 11:
        message = .behind(
          .init(
            documentID: "n", epoch: epoch, revision: number(revision + 3), lastSequence: last()))
      case 12:
        message = .documentHistory(
          .init(
            documentID: "n", epoch: epoch, revision: number(revision + 1),
            changes: (0..<random.below(3)).map { _ in anyChange() }, hasMore: random.chance(50)))
      default: return garble()
      }
      rig.receive(message, to: ["join", "change", "hello", "select", "page"][random.below(5)])
    }

    /// Bytes that are no message.
    private mutating func garble() {
      var bytes = Array(#"{"messageId":"c3","type":"changes","data":{"documentId":"n"}}"#.utf8)
      for _ in 0..<random.below(4) {
        bytes[random.below(bytes.count)] = UInt8(random.below(256))
      }
      rig.handle(.received(bytes))
    }

    /// The sequence of the change in flight, most of the time.
    private mutating func sequence() -> Int {
      for (_, message) in rig.sent.reversed() {
        if case .change(let change) = message { return number(change.sequence) }
      }
      return number(1)
    }

    private mutating func last() -> Int { mayAcknowledge ? number(sequence()) : 0 }

    private mutating func anyChange() -> ServerMessage.Change {
      let length = random.chance(80) ? serverLength : random.below(20)
      let isOwn = mayAcknowledge && random.chance(40)
      return .init(
        clientID: isOwn ? "A" : "C", sequence: isOwn ? sequence() : random.below(9),
        operation: operation(on: max(0, length)))
    }

    /// The length of the server's text in the kept note.
    private var serverLength: Int {
      var probe = rig
      probe.handle(.suspending)
      return probe.disk?.server.scalarCount ?? rig.machine.document(of: "n")?.scalarCount ?? 0
    }
  }

  @Test("whatever it says, what was typed and not confirmed stays", arguments: 0..<40)
  func typedStays(part: UInt64) throws {
    var phases: Set<String> = []
    for seed in part * 25 + 1...part * 25 + 25 {
      var run = Run(seed: seed, mayAcknowledge: false)
      run.rig.note(.open(nil))
      run.rig.connect()
      run.rig.joined(text: "abc", revision: 0)
      for _ in 0..<120 {
        run.step()
        let text = run.rig.text ?? ""
        let missing = Set(run.typed).subtracting(text.unicodeScalars)
        try #require(missing.isEmpty, "seed \(seed)")
        try #require(run.rig.screen.map { $0.text.text == text } ?? true, "seed \(seed)")
      }
      phases.insert("\(run.rig.status?.phase as Any)")
    }
    #expect(phases.count > 1)
  }

  @Test(
    "whatever it says, the screen shows the machine's text, and nothing traps", arguments: 0..<40)
  func total(part: UInt64) throws {
    for seed in part * 25 + 1...part * 25 + 25 {
      var run = Run(seed: seed, mayAcknowledge: true)
      run.rig.note(.open(nil))
      run.rig.connect()
      run.rig.joined(text: "abc", revision: 0)
      for _ in 0..<120 {
        run.step()
        try #require(run.rig.screen?.text.text == run.rig.text, "seed \(seed)")
      }
    }
  }
}
