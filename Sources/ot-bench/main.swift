import Glibc

let help = """
  Usage: ot-bench run WORKLOAD DATA [SECONDS] [--json]
         ot-bench all DATA [SECONDS] [--json]
         ot-bench generate DATA [--scale FACTOR] [--traces FOLDER]
         ot-bench memory [--json]
         ot-bench verify transform|compose|apply|delta FILE

  Measures OTCore on the workload files of Benchmarks/Core/README.md, and checks every result.
  FOLDER holds editing traces, NAME.json or NAME.json.gz in the form of editing-traces.

  Workloads: apply:TRACE  apply1:PAIRS  pairs:PAIRS  compose:chunk.TRACE  compose:tree.TRACE
             compose:fold.TRACE  decode:FILE  encode:FILE  rebase:1k  rebase:10k  session:NAME  cursors
             rich:pairs-small  rich:pairs-large  rich:apply.TRACE  rich:edit  rich:compose  rich:rebase

  """

let words = CommandLine.arguments.dropFirst().filter { $0 != "--json" }
let isJSON = CommandLine.arguments.contains("--json")

func complain(_ text: String) {
  let bytes = Array(text.utf8)
  _ = write(STDERR_FILENO, bytes, bytes.count)
}

func show(_ measurements: [Measurement]) -> Bool {
  for measurement in measurements {
    puts(isJSON ? measurement.json : measurement.row)
    fflush(nil)
  }
  return measurements.allSatisfy(\.isVerified)
}

func options(_ words: ArraySlice<String>, known: [String]) throws -> [String: String] {
  var options: [String: String] = [:]
  var words = words
  while let name = words.popFirst() {
    guard known.contains(name), let value = words.popFirst() else {
      throw BenchError("expected \(known.joined(separator: ", ")), got \(name)")
    }
    options[name] = value
  }
  return options
}

func run(_ words: [String]) throws -> Bool {
  switch (words.first, words.count) {
  case ("run", 3...4):
    let seconds = words.count == 4 ? Double(words[3]) ?? 6 : 6
    return show(try Workloads(folder: words[2], seconds: seconds).run(words[1]))
  case ("all", 2...3):
    let seconds = words.count == 3 ? Double(words[2]) ?? 2 : 2
    let workloads = Workloads(folder: words[1], seconds: seconds)
    var isGood = true
    for name in try Catalogue.workloads(in: words[1]) {
      isGood = show(try workloads.run(name)) && isGood
    }
    return isGood
  case ("generate", 2), ("generate", 4), ("generate", 6):
    let options = try options(words.dropFirst(2), known: ["--scale", "--traces"])
    guard let scale = Double(options["--scale"] ?? "1"), scale > 0 else {
      throw BenchError("expected a factor after --scale")
    }
    try Generation(folder: words[1], scale: scale).run(traces: options["--traces"])
    return true
  case ("memory", 1):
    for row in MemoryUse.all() { puts(isJSON ? row.json : row.row) }
    return true
  case ("verify", 3):
    let (agreeing, all, wrong) = try Verification.run(words[1], words[2])
    puts("\(agreeing) of \(all) agree")
    for line in wrong.prefix(20) { puts("line \(line) does not") }
    return agreeing == all
  default:
    complain(help)
    exit(2)
  }
}

do {
  exit(try run(Array(words)) ? 0 : 1)
} catch {
  complain("ot-bench: \(error)\n")
  exit(1)
}
