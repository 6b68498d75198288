import Glibc
import ParleySimulationKit

let help = """
  Usage: simulate [SEEDS] [FROM] [--nodes N] [--rooms] [--jobs N] [--trace]

  Runs whole gateways with their stores, networks and clients, one for each seed, lets everything
  go wrong that can, and checks that nothing acknowledged is lost or doubled and that all clients
  converge. Ends with how often what happened, or with the first seeds that break a promise.

    SEEDS     how many (as many as the tests go through)
    FROM      the first (1)
    --nodes   gateways on one log, 1 to 5 (1); with 0, as many as the seed says
    --rooms   a room with values in place of documents
    --jobs    threads (as many as there are cores)
    --trace   says what happens, byte by byte; for one seed

  """

func complain(_ text: String) {
  let bytes = Array(text.utf8)
  _ = write(STDERR_FILENO, bytes, bytes.count)
}

func say(_ text: String) {
  puts(text)
  fflush(nil)
}

/// Returns the seconds of the monotonic clock.
func uptime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

var words = Array(CommandLine.arguments.dropFirst())
let isTracing = words.contains("--trace")
words.removeAll { $0 == "--trace" }
let hasRooms = words.contains("--rooms")
words.removeAll { $0 == "--rooms" }
var jobs = sysconf(Int32(_SC_NPROCESSORS_ONLN))
if let place = words.firstIndex(of: "--jobs"), place + 1 < words.count,
  let count = Int(words[place + 1]), count > 0
{
  jobs = count
  words.removeSubrange(place...(place + 1))
}
var nodes = 1
if let place = words.firstIndex(of: "--nodes"), place + 1 < words.count,
  let count = Int(words[place + 1]), (0...5).contains(count)
{
  nodes = count
  words.removeSubrange(place...(place + 1))
}
let numbers = words.compactMap { UInt64($0) }
guard numbers.count == words.count, numbers.count <= 2, numbers.first != 0 else {
  complain(help)
  exit(2)
}
let count = numbers.first ?? Sweep.sliceCount
let first = numbers.count > 1 ? numbers[1] : 1

let nodeCount = nodes

/// Returns the number of gateways in a run: the requested number, or one that depends on the seed.
@Sendable func nodes(of seed: UInt64) -> Int { nodeCount > 0 ? nodeCount : 1 + Int(seed % 5) }

/// Prints the count of each event.
func say(_ tally: Tally) {
  for event in Tally.Event.allCases {
    let number = String(tally[event])
    say(String(repeating: " ", count: max(0, 12 - number.count)) + number + "  " + event.words)
  }
}

/// Returns the plan of a seed.
@Sendable func plan(_ seed: UInt64) -> Simulation.Plan {
  .everything(seed: seed, nodes: nodes(of: seed))
}

if isTracing {
  var simulation = Simulation(plan: plan(first), seed: first)
  simulation.trace = { say($0) }
  do {
    say("fingerprint \(String(try simulation.run().fingerprint, radix: 16))")
  } catch {
    say("\(error)")
    exit(1)
  }
  exit(0)
}

let began = uptime()
let progress: @Sendable (Int) -> Void = {
  say("\($0) seeds, \(Int(Double($0) / (uptime() - began))) a second")
}
let sweep =
  hasRooms
  ? Sweep.rooms(
    first: first, count: count,
    plan: { .everything(seed: $0, nodes: nodes(of: $0)) }, progress: progress)
  : Sweep(first: first, count: count, plan: plan, progress: progress)
await sweep.run(jobs: jobs)
let result = sweep.result
let seconds = uptime() - began

say(result.tally)
say(
  """

  \(result.runs) seeds from \(first) in \(Int(seconds)) s on \(jobs) threads: \
  \(Int(Double(result.runs) / seconds)) a second, \(result.revisions) revisions, \
  fingerprint \(String(result.fingerprint, radix: 16))
  """)
for violation in result.violations.prefix(20) {
  say(
    "VIOLATION \(violation)\n  again: make simulate SEEDS=1 FROM=\(violation.seed) NODES=\(nodes) "
      + (hasRooms ? "ROOMS=1" : "TRACE=1"))
}
say("\(result.violations.count) violations")
exit(result.violations.isEmpty ? 0 : 1)
