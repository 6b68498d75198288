import Glibc
import ParleyHashing
import OTCore
import ParleyOTWorkloads

/// Writes the workload files that Benchmarks/Core/README.md describes: the same bytes from the same
/// version on every machine. `PlainOperation`, not OTCore, computes the expected results.
struct Generation {
  let folder: String
  /// Counts of pairs, edits and operations are multiplied by it.
  let scale: Double

  private func scaled(_ count: Int) -> Int { max(4, Int(Double(count) * scale)) }

  /// Writes all; from a folder of traces also those.
  func run(traces: String?) throws {
    if mkdir(folder, 0o777) != 0, errno != EEXIST { throw Self.complaint(folder) }
    let small = try document("doc-10k.txt", seed: 101, length: 10_000)
    let wide = try document("doc-10k-uni.txt", seed: 102, length: 10_000, isWide: true)
    let middle = try document("doc-100k.txt", seed: 103, length: 100_000)
    let large = try document("doc-1m.txt", seed: 104, length: 1_000_000)
    try pairs("pairs-small", on: small, seed: 111, count: scaled(20_000), edits: 1...3)
    try pairs(
      "pairs-small-uni", on: wide, seed: 112, count: scaled(20_000), edits: 1...3, isWide: true)
    try pairs("pairs-large", on: large, seed: 113, count: scaled(40), edits: 450...500)
    try operation("operation-100k", on: large, seed: 114, components: scaled(100_000))
    _ = try rebase("rebase-1k", on: middle, seed: 121, count: scaled(1_000))
    let history = try rebase("rebase-10k", on: middle, seed: 122, count: scaled(10_000))
    try cursors(on: middle, history: history, seed: 131, count: 100)
    var typist = TypedText(seed: 141)
    try trace(
      "synthetic", start: typist.text(1),
      patches: typist.typing(on: 1, count: scaled(50_000), people: 1))
    try session("synthetic", seed: 151, clients: 3, count: scaled(20_000))
    if let traces { try recorded(traces) }
  }

  // MARK: Files

  private struct TextFile {
    let name: String
    let text: [Unicode.Scalar]
  }

  private static func complaint(_ path: String) -> BenchError {
    BenchError("\(path) cannot be written: \(String(cString: strerror(errno)))")
  }

  private func write(_ name: String, _ bytes: [UInt8]) throws {
    let path = "\(folder)/\(name)"
    guard let file = fopen(path, "wb") else { throw Self.complaint(path) }
    let written = fwrite(bytes, 1, bytes.count, file)
    guard fclose(file) == 0, written == bytes.count else { throw Self.complaint(path) }
    puts("\(name)  \(bytes.count) bytes")
  }

  private func document(
    _ name: String, seed: UInt64, length: Int, isWide: Bool = false
  ) throws -> TextFile {
    var typist = TypedText(seed: seed, isWide: isWide)
    let text = typist.text(length)
    try write(name, Self.utf8(text))
    return TextFile(name: name, text: text)
  }

  private static func utf8(_ text: [Unicode.Scalar]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    for scalar in text { bytes.append(contentsOf: UTF8.encode(scalar).unsafelyUnwrapped) }
    return bytes
  }

  private static func json(_ text: [Unicode.Scalar]) -> String {
    var operation = TextOperation()
    operation.insert(String(String.UnicodeScalarView(text)))
    var bytes: [UInt8] = []
    operation.appendJSON(to: &bytes)
    // The JSON form of an insert alone is the text's, in brackets.
    return text.isEmpty ? "\"\"" : String(decoding: bytes.dropFirst().dropLast(), as: UTF8.self)
  }

  private static func json(_ operation: PlainOperation) -> [UInt8] {
    var bytes: [UInt8] = []
    operation.packed.appendNormalJSON(to: &bytes)
    return bytes
  }

  private func write(_ name: String, header: [(String, String)], lines: [UInt8]) throws {
    let fields = header.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",")
    try write("\(name).jsonl", Array("{\(fields)}\n".utf8) + lines)
  }

  private static func quoted(_ text: String) -> String { "\"\(text)\"" }

  // MARK: Kinds

  private func pairs(
    _ name: String, on document: TextFile, seed: UInt64, count: Int, edits: ClosedRange<Int>,
    isWide: Bool = false
  ) throws {
    var typist = TypedText(seed: seed, isWide: isWide)
    var lines: [UInt8] = []
    var transformed: [UInt8] = []
    var components = 0
    for _ in 0..<count {
      let length = document.text.count
      let (a, places) = typist.operation(
        on: length, edits: typist.between(edits.lowerBound, edits.upperBound))
      let (b, _) = typist.operation(
        on: length, edits: typist.between(edits.lowerBound, edits.upperBound),
        near: typist.chance(25) ? places : [])
      components += a.parts.count + b.parts.count
      lines += Array("{\"a\":".utf8) + Self.json(a) + Array(",\"b\":".utf8) + Self.json(b)
      lines += Array("}\n".utf8)
      let (aAfterB, bAfterA) = PlainOperation.transform(a, b)
      transformed += Array("[".utf8) + Self.json(aAfterB) + Array(",".utf8) + Self.json(bAfterA)
      transformed += Array("]\n".utf8)
    }
    try write(
      name,
      header: [
        ("kind", "\"pairs\""), ("name", Self.quoted(name)), ("doc", Self.quoted(document.name)),
        ("doc_len", "\(document.text.count)"), ("pairs", "\(count)"),
        ("components", "\(components)"),
        ("transformed_sha256", Self.quoted(Workloads.hash(transformed))),
      ], lines: lines)
  }

  /// Draws an operation as large as a server accepts.
  private func operation(
    _ name: String, on document: TextFile, seed: UInt64, components: Int
  ) throws {
    var typist = TypedText(seed: seed)
    // An edit has one component to three, and before it a retain.
    var (one, _) = typist.operation(on: document.text.count, edits: components / 2)
    if one.parts.count > components {
      (one, _) = typist.operation(
        on: document.text.count, edits: components / 2 * components / one.parts.count)
    }
    try write(
      name,
      header: [
        ("kind", "\"operation\""), ("name", Self.quoted(name)),
        ("doc_len", "\(document.text.count)"), ("operations", "1"),
        ("components", "\(one.parts.count)"),
      ], lines: Self.json(one) + Array("\n".utf8))
  }

  private func rebase(
    _ name: String, on document: TextFile, seed: UInt64, count: Int
  ) throws -> [PlainOperation] {
    var typist = TypedText(seed: seed)
    let length = document.text.count
    let clients = [(1, 10), (3, 10), (50, 2)].flatMap { edits, count in
      (0..<count).map { _ in typist.operation(on: length, edits: edits).operation }
    }
    let history = Self.operations(typist.typing(on: length, count: count, people: 3), on: length)
    var end = document.text
    for operation in history { operation.apply(to: &end) }
    let hashes = clients.map { client in
      let last = history.reduce(client) { PlainOperation.transform($1, $0).bAfterA }
      var text = end
      last.apply(to: &text)
      return Self.quoted(Workloads.hash(Self.utf8(text)))
    }
    let list = clients.map { String(decoding: Self.json($0), as: UTF8.self) }
    try write(
      name,
      header: [
        ("kind", "\"rebase\""), ("name", Self.quoted(name)), ("doc", Self.quoted(document.name)),
        ("doc_len", "\(length)"), ("history", "\(count)"), ("end_len", "\(end.count)"),
        ("end_sha256", Self.quoted(Workloads.hash(Self.utf8(end)))),
        ("clients", "[\(list.joined(separator: ","))]"),
        ("client_result_sha256", "[\(hashes.joined(separator: ","))]"),
      ], lines: history.flatMap { Self.json($0) + [0x0a] })
    return history
  }

  private static func operations(_ patches: [TypedText.Patch], on length: Int) -> [PlainOperation] {
    var length = length
    return patches.map { patch in
      defer { length += patch.inserted.count - patch.deleted }
      return patch.operation(on: length)
    }
  }

  private func cursors(
    on document: TextFile, history: [PlainOperation], seed: UInt64, count: Int
  ) throws {
    var typist = TypedText(seed: seed)
    let cursors = (0..<count).map { _ in typist.below(document.text.count + 1) }.sorted()
    func moved(_ insertMovesIt: Bool) -> String {
      let places = cursors.map { cursor in
        history.reduce(cursor) { $1.moved($0, insertMovesIt: insertMovesIt) }
      }
      return "[\(places.map(String.init).joined(separator: ","))]"
    }
    try write(
      "cursors",
      header: [
        ("kind", "\"cursors\""), ("name", "\"cursors\""), ("doc", Self.quoted(document.name)),
        ("doc_len", "\(document.text.count)"), ("ops", "\(history.count)"),
        ("cursors", "[\(cursors.map(String.init).joined(separator: ","))]"),
        ("final_if_insert_at_cursor_moves_it", moved(true)),
        ("final_if_insert_at_cursor_leaves_it", moved(false)),
      ], lines: history.flatMap { Self.json($0) + [0x0a] })
  }

  private func trace(
    _ name: String, start: [Unicode.Scalar], patches: [TypedText.Patch],
    expected: [Unicode.Scalar]? = nil
  ) throws {
    var text = start
    var lines: [UInt8] = []
    for patch in patches {
      text.replaceSubrange(
        patch.position..<patch.position + patch.deleted, with: patch.inserted)
      lines += Array("[\(patch.position),\(patch.deleted),\(Self.json(patch.inserted))]\n".utf8)
    }
    if let expected, expected != text {
      throw BenchError("trace \(name) does not end with the text that it says")
    }
    try write(
      "trace-\(name)",
      header: [
        ("kind", "\"trace\""), ("name", Self.quoted(name)), ("start", Self.json(start)),
        ("patches", "\(patches.count)"),
        ("inserted", "\(patches.reduce(0) { $0 + $1.inserted.count })"),
        ("deleted", "\(patches.reduce(0) { $0 + $1.deleted })"),
        ("ascii", "\(patches.allSatisfy { $0.inserted.allSatisfy(\.isASCII) })"),
        ("end_len", "\(text.count)"),
        ("end_sha256", Self.quoted(Workloads.hash(Self.utf8(text)))),
      ], lines: lines)
  }

  // MARK: Sessions

  /// Writes operations in the order in which a server receives them. Each states how many
  /// operations of other clients its author had received.
  private struct SessionWriter {
    var text: [Unicode.Scalar] = []
    var lines: [UInt8] = []
    var count = 0
    var transforms = 0
    private var queues: [[PlainOperation]]
    private var seen: [Int]

    init(clients: Int) {
      queues = Array(repeating: [], count: clients)
      seen = Array(repeating: 0, count: clients)
    }

    /// Applies an author's operation after transforming it over the operations that the author has
    /// not received yet.
    mutating func arrive(_ operation: PlainOperation, from author: Int, seen known: Int) {
      lines += Array("[\(author),\(known),".utf8) + Generation.json(operation)
      lines += Array("]\n".utf8)
      count += 1
      queues[author].removeFirst(known - seen[author])
      seen[author] = known
      var operation = operation
      for index in queues[author].indices {
        (operation, queues[author][index]) = PlainOperation.transform(
          operation, queues[author][index])
        transforms += 1
      }
      operation.apply(to: &text)
      for client in queues.indices where client != author { queues[client].append(operation) }
    }

    /// Returns the length of an author's text that includes `known` operations of other clients.
    func length(for author: Int, seen known: Int) -> Int {
      let first = known - seen[author]
      guard first < queues[author].count else { return text.count }
      return queues[author][first].baseLength
    }
  }

  private func write(_ name: String, clients: Int, _ session: SessionWriter) throws {
    try write(
      "session-\(name)",
      header: [
        ("kind", "\"session\""), ("name", Self.quoted(name)), ("clients", "\(clients)"),
        ("ops", "\(session.count)"), ("transforms", "\(session.transforms)"),
        ("end_len", "\(session.text.count)"),
        ("end_sha256", Self.quoted(Workloads.hash(Self.utf8(session.text)))),
      ], lines: session.lines)
  }

  /// Writes a session of clients that type in bursts and receive each other's operations late.
  private func session(_ name: String, seed: UInt64, clients: Int, count: Int) throws {
    var typist = TypedText(seed: seed)
    var session = SessionWriter(clients: clients)
    var carets = [Int](repeating: 0, count: clients)
    var seen = [Int](repeating: 0, count: clients)
    var foreign = [Int](repeating: 0, count: clients)
    while session.count < count {
      let author = typist.below(clients)
      // On average, this author has received half of the new operations.
      seen[author] += typist.below(foreign[author] - seen[author] + 1)
      for burst in 0..<typist.between(1, 12) where session.count < count {
        var known = seen[author]
        if burst == 0, typist.chance(30) {
          known = foreign[author]
          seen[author] = known
        }
        let length = session.length(for: author, seen: known)
        carets[author] = min(carets[author], length)
        let patch = typist.patch(caret: &carets[author], length: length)
        session.arrive(patch.operation(on: length), from: author, seen: known)
        for client in 0..<clients where client != author { foreign[client] += 1 }
      }
    }
    try write(name, clients: clients, session)
  }

  // MARK: Recorded

  /// Reads every `NAME.json` and `NAME.json.gz` of a folder in the format of `editing-traces`.
  private func recorded(_ traces: String) throws {
    for folder in [traces, traces + "/concurrent"] {
      for file in try Catalogue.files(in: folder) {
        let isPacked = file.hasSuffix(".json.gz")
        guard isPacked || file.hasSuffix(".json") else { continue }
        let name = String(file.dropLast(isPacked ? 8 : 5))
        let bytes = try WorkloadFile.bytes(of: "\(folder)/\(file)", isPacked: isPacked)
        let value = try JSONParser.value(of: bytes[...])
        if let agents = value["numAgents"]?.int {
          try concurrent(name, value, agents: agents)
        } else {
          try sequential(name, value)
        }
      }
    }
  }

  private static func patches(_ transaction: JSONValue) throws -> [TypedText.Patch] {
    guard let patches = transaction["patches"]?.list else { throw BenchError("expected patches") }
    return try patches.map { patch in
      guard let list = patch.list, list.count >= 3, let position = list[0].int,
        let deleted = list[1].int, let inserted = list[2].text
      else { throw BenchError("expected position, deleted and inserted") }
      return TypedText.Patch(
        position: position, deleted: deleted, inserted: Array(inserted.unicodeScalars))
    }
  }

  private func sequential(_ name: String, _ value: JSONValue) throws {
    guard let start = value["startContent"]?.text, let end = value["endContent"]?.text,
      let transactions = value["txns"]?.list
    else { throw BenchError("\(name): expected startContent, endContent and txns") }
    try trace(
      name, start: Array(start.unicodeScalars), patches: transactions.flatMap(Self.patches),
      expected: Array(end.unicodeScalars))
  }

  /// Replays a concurrent trace through a server. Each author's transactions are consecutive, so
  /// one count for each author states the transactions that precede a transaction.
  private func concurrent(_ name: String, _ value: JSONValue, agents: Int) throws {
    guard let transactions = value["txns"]?.list, let end = value["endContent"]?.text else {
      throw BenchError("\(name): expected txns and endContent")
    }
    var session = SessionWriter(clients: agents)
    var clocks: [[Int]] = []
    var counts = [Int](repeating: 0, count: agents)
    // For each client, the operations of other clients in the server's order: author and number of
    // the transaction.
    var orders = [[(author: Int, number: Int)]](repeating: [], count: agents)
    var seen = [Int](repeating: 0, count: agents)
    for transaction in transactions {
      guard let author = transaction["agent"]?.int, let parents = transaction["parents"]?.list
      else {
        throw BenchError("\(name): expected agent and parents")
      }
      var clock = [Int](repeating: 0, count: agents)
      for parent in parents.compactMap(\.int) {
        for agent in 0..<agents { clock[agent] = max(clock[agent], clocks[parent][agent]) }
      }
      counts[author] += 1
      let known = clock
      clock[author] = counts[author]
      clocks.append(clock)
      let order = orders[author]
      while seen[author] < order.count,
        order[seen[author]].number <= known[order[seen[author]].author]
      { seen[author] += 1 }
      for later in order[seen[author]...] where later.number <= known[later.author] {
        puts("session-\(name): cannot be replayed through one server, left out")
        return
      }
      for patch in try Self.patches(transaction) {
        let length = session.length(for: author, seen: seen[author])
        session.arrive(patch.operation(on: length), from: author, seen: seen[author])
        for client in 0..<agents where client != author {
          orders[client].append((author, counts[author]))
        }
      }
    }
    guard session.text == Array(end.unicodeScalars) else {
      throw BenchError("session \(name) does not end with the text that it says")
    }
    try write(name, clients: agents, session)
  }
}
