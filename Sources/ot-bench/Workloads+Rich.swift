import OTCore
import ParleyOTWorkloads

/// Operations with formatting, on the texts and operations of the workload files.
///
/// Compare each row with that of the plain workload. The files contain no results for these
/// workloads, so results are verified against each other: both orders of a transformation lead to
/// one document, and so do a composition and its parts.
extension Workloads {
  func runRich(_ name: String) throws -> [Measurement] {
    let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
    switch (parts[0], parts.count == 2 ? parts[1] : "") {
    case ("pairs-small", ""), ("pairs-large", ""): return [try richPairs(name)]
    case ("apply", let trace): return [try richApply(trace)]
    case ("edit", ""): return [try richEdit()]
    case ("compose", ""): return try richCompose()
    case ("rebase", ""): return try richRebase()
    default: throw BenchError("expected a workload of rich:, got \(name)")
    }
  }

  private func richPairs(_ name: String) throws -> Measurement {
    let file = try WorkloadFile(name, in: folder)
    var workloads = FormattedWorkloads(seed: 161)
    let pairs = try file.pairs().map {
      (a: workloads.formatted($0.a), b: workloads.formatted($0.b))
    }
    var components = 0
    // Passed from where they are: a copy of a pair would count four references.
    let (lefts, rights) = (pairs.map(\.a), pairs.map(\.b))
    let times = try Measurement.repeated(for: seconds) {
      components = 0
      try lefts.withUnsafeBufferPointer { lefts in
        try rights.withUnsafeBufferPointer { rights in
          for index in lefts.indices {
            let (a, b) = try RichOperation.transform(lefts[index], rights[index])
            components += a.componentCount + b.componentCount
          }
        }
      }
    }
    let document = RichDocument(Document(try file.document()))
    let isVerified = try pairs.prefix(20).allSatisfy { pair in
      let (a, b) = try RichOperation.transform(pair.a, pair.b)
      var (one, two) = (document, document)
      try one.apply(pair.a)
      try one.apply(b)
      try two.apply(pair.b)
      try two.apply(a)
      return one == two
    }
    return Measurement(
      workload: "rich:\(name)", unit: "pair", count: pairs.count, seconds: times,
      extra: [("components", "\(components)")], isVerified: isVerified)
  }

  private func richApply(_ trace: String) throws -> Measurement {
    let file = try WorkloadFile("trace-\(trace)", in: folder)
    let start = try file.text("start")
    var operations = WorkloadFile.operations(of: try file.patches(), on: start)
      .map { RichOperation($0) }
    var end = ""
    let times = try Measurement.repeated(for: seconds) {
      var document = RichDocument(Document(start))
      try Self.forEach(of: &operations) { try document.apply($0) }
      end = document.text.text
    }
    return Measurement(
      workload: "rich:apply.\(trace)", unit: "edit", count: operations.count, seconds: times,
      isVerified: Self.hash(Array(end.utf8)) == (try file.text("end_sha256")))
  }

  private func richEdit() throws -> Measurement {
    let text = try WorkloadFile("pairs-small", in: folder).document()
    var workloads = FormattedWorkloads(seed: 162)
    let document = workloads.document(text, runs: 500)
    let edits = (0..<2_000).map { _ in workloads.edit(length: document.text.scalarCount) }
    var lengths = 0
    let times = try Measurement.repeated(for: seconds) {
      lengths = 0
      for edit in edits {
        var changed = document
        try changed.apply(edit)
        lengths += changed.text.scalarCount
      }
    }
    return Measurement(
      workload: "rich:edit", unit: "edit", count: edits.count, seconds: times,
      isVerified: lengths == edits.reduce(0) { $0 + $1.targetLength })
  }

  private func richCompose() throws -> [Measurement] {
    let text = try WorkloadFile("pairs-small", in: folder).document()
    var workloads = FormattedWorkloads(seed: 163)
    let document = workloads.document(text, runs: 500)
    let edits = workloads.edits(1_000, length: document.text.scalarCount)
    var end = document
    for edit in edits { try end.apply(edit) }
    return try ["fold", "tree"].map { how in
      var whole = RichOperation()
      let times = try Measurement.repeated(for: seconds) {
        var level = edits
        if how == "fold" {
          whole = try level.dropFirst().reduce(level[0]) { try $0.composed(with: $1) }
        } else {
          while level.count > 1 {
            level = try stride(from: 0, to: level.count, by: 2).map {
              $0 + 1 < level.count ? try level[$0].composed(with: level[$0 + 1]) : level[$0]
            }
          }
          whole = level[0]
        }
      }
      var composed = document
      try composed.apply(whole)
      return Measurement(
        workload: "rich:compose", unit: "edit", count: edits.count, seconds: times,
        extra: [("group", "\"\(how)\"")], isVerified: composed == end)
    }
  }

  /// Rebases an edit over 4,000 edits of other users, which have no formats.
  private func richRebase() throws -> [Measurement] {
    let file = try WorkloadFile("rebase-10k", in: folder)
    let history = try file.operations().prefix(4_000)
    let length = history.first?.baseLength ?? 0
    let bold = try AttributeSet(json: #"{"bold":true}"#)
    return try ["plain", "typed", "bold", "span"].map { group in
      var builder = RichOperationBuilder()
      builder.retain(length / 2)
      if group == "span" {
        builder.retain(20, setting: bold)
        builder.retain(length - length / 2 - 20)
      } else {
        builder.insert("x", with: group == "bold" ? bold : AttributeSet())
        builder.retain(length - length / 2)
      }
      let edit = builder.finished()
      var result = edit
      let times = try Measurement.repeated(for: seconds) {
        result = edit
        if group == "plain" {
          result = RichOperation(try edit.text.rebased(over: history, side: .right))
        } else {
          try result.rebase(over: history, side: .right)
        }
      }
      var step = edit
      for other in history { step = try step.transformed(over: RichOperation(other), side: .right) }
      return Measurement(
        workload: "rich:rebase", unit: "transform", count: history.count, seconds: times,
        extra: [("group", "\"\(group)\"")],
        isVerified: group == "plain" ? result.text == step.text : result == step)
    }
  }
}
