import ParleyHashing
import OTCore

/// Runs the workloads of Benchmarks/README.md on their files.
struct Workloads {
  let folder: String
  /// Seconds for each row.
  let seconds: Double

  /// Runs a workload, such as `apply:rustcode`.
  func run(_ name: String) throws -> [Measurement] {
    let parts = name.split(separator: ":", maxSplits: 1).map(String.init)
    switch (parts[0], parts.count == 2 ? parts[1] : "") {
    case ("apply", let trace): return [try apply(trace)]
    case ("apply1", let pairs): return [try applyOnce(pairs)]
    case ("pairs", let pairs): return [try transformPairs(pairs)]
    case ("decode", let file): return [try decode(file)]
    case ("encode", let file): return [try encode(file)]
    case ("compose", let how): return [try compose(how)]
    case ("rebase", let size): return try rebase(size)
    case ("session", let session): return [try replay(session)]
    case ("rich", let name): return try runRich(name)
    case ("cursors", _): return [try moveCursors()]
    default: throw BenchError("expected a workload, got \(name); ot-bench --help lists them")
    }
  }

  private static func hash(_ text: String) -> String { hash(Array(text.utf8)) }

  static func hash(_ bytes: [UInt8]) -> String {
    SHA256().hash(bytes).bytes.map { byte in
      let text = String(byte, radix: 16)
      return text.count == 1 ? "0" + text : text
    }.joined()
  }

  /// Calls `body` with each element in turn.
  ///
  /// The element is moved out of the array during the call. A copy would count references, which
  /// would be included in the measured time.
  @inline(__always)
  static func forEach<Element>(
    of elements: inout [Element], _ body: (Element) throws -> Void
  ) rethrows {
    try elements.withUnsafeMutableBufferPointer { elements in
      for index in elements.indices {
        let slot = elements.baseAddress.unsafelyUnwrapped + index
        let element = slot.move()
        do {
          try body(element)
        } catch {
          slot.initialize(to: element)
          throw error
        }
        slot.initialize(to: element)
      }
    }
  }

  // MARK: Documents

  private func apply(_ trace: String) throws -> Measurement {
    let file = try WorkloadFile("trace-\(trace)", in: folder)
    let start = try file.text("start")
    var operations = WorkloadFile.operations(of: try file.patches(), on: start)
    var end = ""
    let times = try Measurement.repeated(for: seconds) {
      var document = Document(start)
      try Self.forEach(of: &operations) { try document.apply($0) }
      end = document.text
    }
    return Measurement(
      workload: "apply:\(trace)", unit: "edit", count: operations.count, seconds: times,
      isVerified: Self.hash(end) == (try file.text("end_sha256")))
  }

  private func applyOnce(_ name: String) throws -> Measurement {
    let file = try WorkloadFile(name, in: folder)
    var operations = try file.pairs().map(\.a)
    let start = Document(try file.document())
    var lengths = 0
    let times = try Measurement.repeated(for: seconds) {
      lengths = 0
      try Self.forEach(of: &operations) {
        var document = start
        try document.apply($0)
        lengths += document.scalarCount
      }
    }
    return Measurement(
      workload: "apply1:\(name)", unit: "apply", count: operations.count, seconds: times,
      isVerified: lengths == operations.reduce(0) { $0 + $1.targetLength })
  }

  // MARK: Algebra

  private func transformPairs(_ name: String) throws -> Measurement {
    let file = try WorkloadFile(name, in: folder)
    var pairs = try file.pairs()
    var components = 0
    let times = try Measurement.repeated(for: seconds) {
      components = 0
      try Self.forEach(of: &pairs) { pair in
        let (a, b) = try TextOperation.transform(pair.a, pair.b)
        components += a.componentCount + b.componentCount
      }
    }
    var lines: [UInt8] = []
    for pair in pairs {
      let (a, b) = try TextOperation.transform(pair.a, pair.b)
      lines.append(UInt8(ascii: "["))
      a.appendNormalJSON(to: &lines)
      lines.append(UInt8(ascii: ","))
      b.appendNormalJSON(to: &lines)
      lines.append(UInt8(ascii: "]"))
      lines.append(UInt8(ascii: "\n"))
    }
    return Measurement(
      workload: "pairs:\(name)", unit: "pair", count: pairs.count, seconds: times,
      extra: [("components", "\(try file.integer("components"))")],
      isVerified: Self.hash(lines) == (try file.text("transformed_sha256")))
  }

  // MARK: JSON

  /// A file's operations, and the JSON form of each.
  private func forms(
    of file: WorkloadFile, _ name: String
  ) throws -> [(operation: TextOperation, json: [UInt8])] {
    let operations =
      name.hasPrefix("pairs-")
      ? try file.pairs().flatMap { [$0.a, $0.b] } : try file.operations()
    return operations.map { operation in
      var json: [UInt8] = []
      operation.appendNormalJSON(to: &json)
      return (operation, json)
    }
  }

  private func decode(_ name: String) throws -> Measurement {
    let file = try WorkloadFile(name, in: folder)
    let forms = try forms(of: file, name)
    var isVerified = true
    for form in forms {
      isVerified = try TextOperation(json: form.json) == form.operation && isVerified
    }
    var components = 0
    let times = try Measurement.repeated(for: seconds) {
      components = 0
      for form in forms { components += try TextOperation(json: form.json).componentCount }
    }
    return Measurement(
      workload: "decode:\(name)", unit: "component", count: try file.integer("components"),
      seconds: times, isVerified: try isVerified && components == file.integer("components"))
  }

  private func encode(_ name: String) throws -> Measurement {
    let file = try WorkloadFile(name, in: folder)
    let forms = try forms(of: file, name)
    var bytes: [UInt8] = []
    let times = Measurement.repeated(for: seconds) {
      bytes.removeAll(keepingCapacity: true)
      for form in forms { form.operation.appendJSON(to: &bytes) }
    }
    return Measurement(
      workload: "encode:\(name)", unit: "component", count: try file.integer("components"),
      seconds: times, isVerified: bytes == forms.flatMap(\.json))
  }

  private func compose(_ how: String) throws -> Measurement {
    let parts = how.split(separator: ".", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { throw BenchError("expected compose:HOW.TRACE") }
    let file = try WorkloadFile("trace-\(parts[1])", in: folder)
    let start = try file.text("start")
    let operations = WorkloadFile.operations(of: try file.patches(), on: start)
    var results: [TextOperation] = []
    let times = try Measurement.repeated(for: seconds) {
      switch parts[0] {
      case "chunk":
        results = try stride(from: 0, to: operations.count, by: 1_000).map { first in
          try Self.fold(operations[first..<min(first + 1_000, operations.count)])
        }
      case "fold": results = [try Self.fold(operations[...])]
      case "tree": results = [try Self.tree(operations)]
      default: throw BenchError("expected chunk, tree or fold, got \(parts[0])")
      }
    }
    var document = Document(start)
    for operation in results { try document.apply(operation) }
    return Measurement(
      workload: "compose:\(how)", unit: "edit", count: operations.count, seconds: times,
      isVerified: Self.hash(document.text) == (try file.text("end_sha256")))
  }

  private static func fold(_ operations: ArraySlice<TextOperation>) throws -> TextOperation {
    var composer = OperationComposer(baseLength: operations.first?.baseLength ?? 0)
    for operation in operations { try composer.append(operation) }
    return try composer.finished()
  }

  private static func tree(_ operations: [TextOperation]) throws -> TextOperation {
    var level = operations
    while level.count > 1 {
      var next: [TextOperation] = []
      next.reserveCapacity((level.count + 1) / 2)
      var index = 0
      while index + 1 < level.count {
        next.append(try level[index].composed(with: level[index + 1]))
        index += 2
      }
      if index < level.count { next.append(level[index]) }
      level = next
    }
    return level.first ?? TextOperation()
  }

  private func rebase(_ size: String) throws -> [Measurement] {
    let file = try WorkloadFile("rebase-\(size)", in: folder)
    let history = try file.operations()
    guard let clients = file.header["clients"]?.list?.compactMap(\.operation), clients.count == 22,
      let hashes = file.header["client_result_sha256"]?.list?.compactMap(\.text)
    else { throw BenchError("the header has no clients") }
    var end = Document(try file.document())
    for operation in history { try end.apply(operation) }
    return try [("one", 0..<10), ("three", 10..<20), ("fifty", 20..<22)].map { group, range in
      var results: [TextOperation] = []
      let times = try Measurement.repeated(for: seconds) {
        results = try clients[range].map { client in
          try client.rebased(over: history[...], side: .right)
        }
      }
      let isVerified = try zip(range, results).allSatisfy { index, result in
        var document = end
        try document.apply(result)
        return Self.hash(document.text) == hashes[index]
      }
      return Measurement(
        workload: "rebase:\(size)", unit: "transform", count: history.count * range.count,
        seconds: times, extra: [("group", "\"\(group)\"")], isVerified: isVerified)
    }
  }

  // MARK: A server's work

  private func replay(_ name: String) throws -> Measurement {
    struct Arrival {
      let client: Int
      let seen: Int
      let operation: TextOperation
    }
    let file = try WorkloadFile("session-\(name)", in: folder)
    let clients = try file.integer("clients")
    let arrivals = try file.lines.map { line in
      guard let list = try JSONParser.value(of: line).list, list.count == 3,
        let client = list[0].int, let seen = list[1].int, let operation = list[2].operation
      else { throw BenchError("expected a line with client, seen and an operation") }
      return Arrival(client: client, seen: seen, operation: operation)
    }
    var end = ""
    let times = try Measurement.repeated(for: seconds) {
      var document = Document()
      var queues = [[TextOperation]](repeating: [], count: clients)
      var dropped = [Int](repeating: 0, count: clients)
      for arrival in arrivals {
        let author = arrival.client
        let known = arrival.seen - dropped[author]
        if known > 0 { queues[author].removeFirst(known) }
        dropped[author] = arrival.seen
        var operation = arrival.operation
        for index in queues[author].indices {
          (operation, queues[author][index]) = try TextOperation.transform(
            operation, queues[author][index])
        }
        try document.apply(operation)
        for client in 0..<clients where client != author { queues[client].append(operation) }
      }
      end = document.text
    }
    return Measurement(
      workload: "session:\(name)", unit: "op", count: arrivals.count, seconds: times,
      extra: [("transforms", "\(try file.integer("transforms"))")],
      isVerified: Self.hash(end) == (try file.text("end_sha256")))
  }

  private func moveCursors() throws -> Measurement {
    let file = try WorkloadFile("cursors", in: folder)
    let history = try file.operations()
    func list(_ key: String) throws -> [Int] {
      guard let list = file.header[key]?.list else { throw BenchError("the header has no \(key)") }
      return list.compactMap(\.int)
    }
    let start = try list("cursors")
    func moved(own: Bool) -> [Int] {
      var cursors = start
      Cursor.transform(&cursors, over: history[...], own: own)
      return cursors
    }
    var left: [Int] = []
    let times = Measurement.repeated(for: seconds) { left = moved(own: false) }
    let isVerified =
      try left == list("final_if_insert_at_cursor_leaves_it")
      && moved(own: true) == list("final_if_insert_at_cursor_moves_it")
    return Measurement(
      workload: "cursors", unit: "cursor-op", count: history.count * start.count, seconds: times,
      isVerified: isVerified)
  }
}
