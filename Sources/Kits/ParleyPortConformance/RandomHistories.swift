import ParleyGatewayPorts
import OTCore
import ParleyOTWorkloads

extension ConformanceCheck {
  /// The comparison of a store with a simple model over random batches, restarts and housekeeping.
  static let randomHistories = ConformanceCheck("random histories agree with a plain model") {
    rig in
    for seed in 1...8 {
      do {
        try runHistory(seed: UInt64(seed), rig)
      } catch let failure as ConformanceFailure {
        throw ConformanceFailure("seed \(seed): \(failure.description)")
      }
    }
  }

  private static func runHistory(seed: UInt64, _ rig: StoreRig) throws {
    var random = SplitMix64(seed: seed)
    var model: [DocumentID: ModelDocument] = [:]
    let ids: [DocumentID] = (0..<3).map { "seed-\(seed)-note-\($0)" }
    for _ in 0..<60 {
      var batch: [StoreRequest] = []
      var next = model
      for _ in 0...Int.random(in: 0...4, using: &random) {
        let id = ids[Int.random(in: 0..<ids.count, using: &random)]
        batch.append(request(id, &next[id], &random))
      }
      let replies = try rig.perform(batch)
      for (request, reply) in zip(batch, replies) where request.isWriting {
        if let error = reply.failure {
          throw ConformanceFailure("a request that should succeed failed with \(error)")
        }
      }
      model = next
      if let id = ids.randomElement(using: &random), model[id] != nil,
        Int.random(in: 0..<8, using: &random) == 0
      {
        try rig.delete(id, at: 5)
        if Bool.random(using: &random) { rig.maintain() }
        if Bool.random(using: &random) { try rig.restart() }
        try rig.bringBack(id)
      }
      if Int.random(in: 0..<6, using: &random) == 0 { rig.maintain() }
      if Int.random(in: 0..<6, using: &random) == 0 { try rig.restart() }
      try compare(ids[Int.random(in: 0..<ids.count, using: &random)], model, rig, &random)
    }
    for id in ids { try compare(id, model, rig, &random) }
  }

  private static func request(
    _ id: DocumentID, _ document: inout ModelDocument?, _ random: inout SplitMix64
  ) -> StoreRequest {
    guard var model = document else {
      document = ModelDocument(title: "Note")
      return .create(id: id, epoch: StoreRig.epoch, title: "Note", time: 1)
    }
    switch Int.random(in: 0..<20, using: &random) {
    case 0:
      document = nil
      return .delete(id: id)
    case 1:
      model.title = "Title \(Int.random(in: 0..<100, using: &random))"
      document = model
      return .rename(id: id, title: model.title, time: 2)
    case 2:
      return .snapshot(
        id: id, epoch: StoreRig.epoch, revision: model.entries.count, text: model.text)
    case 3:
      let through = Int.random(in: 0...model.entries.count, using: &random)
      model.base = max(model.base, through)
      document = model
      return .compact(id: id, through: through)
    default:
      var added: [LogEntry] = []
      for _ in 0...Int.random(in: 0...2, using: &random) { added.append(model.edit(&random)) }
      document = model
      return .append(id: id, epoch: StoreRig.epoch, entries: added)
    }
  }

  private static func compare(
    _ id: DocumentID, _ model: [DocumentID: ModelDocument], _ rig: StoreRig,
    _ random: inout SplitMix64
  ) throws {
    guard let expected = model[id] else {
      try expect(rig.error(.load(id: id, recentMax: 9)), .unknownDocument, "an unknown note")
      return
    }
    let recentMax = Int.random(in: 0..<12, using: &random)
    let found = try rig.load(id, recentMax: recentMax)
    try expect(found.summary.title, expected.title, "the title")
    try expect(found.summary.revision, expected.entries.count, "the revision")
    try expect(text: found.text, expected.text, "the text")
    try expect(found.content, expected.contents[expected.entries.count], "the content")
    let recentStart = max(expected.base, expected.entries.count - recentMax)
    try expect(found.recent, Array(expected.entries[recentStart...]), "the newest entries")
    try expect(found.marks, expected.marks, "the marks")
    let after = Int.random(in: expected.base...expected.entries.count, using: &random)
    let through = Int.random(in: after...expected.entries.count + 1, using: &random)
    try expect(
      rig.entries(id, after: after, through: through),
      Array(expected.entries[after..<min(through, expected.entries.count)]), "a range of entries")
    let past = Int.random(in: expected.base...expected.entries.count, using: &random)
    let text = try rig.text(id, at: .revision(past))
    try expect(text: text.text, expected.texts[past], "the text at \(past)")
    try expect(text.content, expected.contents[past], "the content at \(past)")
    try expect(text.authors, expected.authors[past], "the authors at \(past)")
  }
}

/// A simple model of a document: a list of entries, and a text of scalars.
private struct ModelDocument {
  var title: String
  var entries: [LogEntry] = []
  var marks: [String: ClientMark] = [:]
  var base = 0
  var scalars: [Unicode.Scalar] = []
  /// The author of each scalar.
  var owners: [String] = []
  /// Texts and authors by revision.
  var texts = [""]
  var authors: [[AuthorRun]] = [[]]
  var contents = [NoteContent()]
  var isRich = false

  var text: String { String(String.UnicodeScalarView(scalars)) }

  init(title: String) { self.title = title }

  /// Makes a random edit, and returns its entry.
  mutating func edit(_ random: inout SplitMix64) -> LogEntry {
    let start = Int.random(in: 0...scalars.count, using: &random)
    let end = Int.random(in: start...min(scalars.count, start + 4), using: &random)
    let inserted = (0..<Int.random(in: 0...6, using: &random)).map { _ in
      Self.alphabet[Int.random(in: 0..<Self.alphabet.count, using: &random)]
    }
    var operation = TextOperation()
    operation.retain(start)
    operation.insert(String(String.UnicodeScalarView(inserted)))
    operation.delete(end - start)
    operation.retain(scalars.count - end)
    scalars.replaceSubrange(start..<end, with: inserted)
    let client = "client-\(Int.random(in: 0..<4, using: &random))"
    let format =
      random.chance(30)
      ? ReferenceRich(formatting: operation, using: &random).packed.format : nil
    let entry = LogEntry(
      revision: entries.count + 1, client: client, sequence: (marks[client]?.sequence ?? 0) + 1,
      digest: random.next(), operation: operation,
      format: ChangeFormat(format, makesRich: format != nil && !isRich || random.chance(5)),
      author: "Author of \(client)", time: Timestamp(entries.count))
    isRich = isRich || entry.format != nil
    owners.replaceSubrange(start..<end, with: repeatElement(entry.author, count: inserted.count))
    texts.append(text)
    var content = contents[contents.count - 1]
    do throws(OperationError) {
      try content.apply(operation, entry.format)
    } catch {
      preconditionFailure("a made change does not apply: \(error)")
    }
    contents.append(content)
    authors.append(runs)
    entries.append(entry)
    marks[client] = ClientMark(
      sequence: entry.sequence, revision: entry.revision, digest: entry.digest)
    return entry
  }

  private var runs: [AuthorRun] {
    var runs: [AuthorRun] = []
    for owner in owners {
      if runs.last?.author == owner {
        runs[runs.count - 1].count += 1
      } else {
        runs.append(AuthorRun(author: owner, count: 1))
      }
    }
    return runs
  }

  private static let alphabet: [Unicode.Scalar] = Array(
    "abc \n\"\\é日🐦\u{301}\u{0}\u{10ffff}".unicodeScalars)
}
