import ParleyGatewayPorts
import OTCore
import ParleyStoreRecords

/// Appends as arrays, the parameters of the database's function: one array element for each append,
/// entry, clock set-back and session. The `places` contain the number of the append, counted from
/// 1.
struct AppendColumns {
  private var ids: [String] = []
  private var epochs: [String] = []
  private var revisions: [Int] = []
  private var chains: [RecordChecksum] = []
  private var starts: [Int] = []
  private var counts: [Int] = []
  private var lengths: [Int] = []
  private var heads: [RecordChecksum] = []
  private var sizes: [Int] = []
  private var firsts: [Timestamp] = []
  private var lasts: [Timestamp] = []
  private var entries = EntryColumns()
  private var setBacks = SetBackColumns()
  private var sessions = SessionColumns()

  mutating func add(
    _ append: LogAppend, _ links: [RecordChecksum], after head: () -> RecordChecksum?
  ) {
    guard let first = append.entries.first, let last = append.entries.last, let chain = links.last,
      let start = append.condition.map({ RecordChecksum($0.chain) }) ?? head()
    else { return }
    ids.append(append.id.text)
    epochs.append(append.epoch.text)
    revisions.append(first.revision - 1)
    chains.append(start)
    starts.append(first.operation.baseLength)
    for (client, session) in append.sessions { sessions.add(client, session, of: ids.count) }
    counts.append(append.entries.count)
    lengths.append(last.operation.targetLength)
    heads.append(chain)
    var size = 0
    var time = first.time
    for (entry, link) in zip(append.entries, links) {
      size += entries.add(entry, link, of: ids.count) + 64
      if TimeOrder.isSetBack(from: time, to: entry.time) {
        setBacks.add(entry.revision, of: ids.count)
      }
      time = TimeOrder.following(time, entry.time)
    }
    sizes.append(size)
    firsts.append(first.time)
    lasts.append(time)
  }

  /// The arrays in the order of the function's parameters.
  var values: [any StoredValue] {
    [ids, epochs, revisions, chains, counts, lengths, heads, sizes, firsts, lasts]
      + entries.values + setBacks.values + [starts] + sessions.values
  }
}

private struct EntryColumns {
  private var places: [Int] = []
  private var revisions: [Int] = []
  private var clients: [String] = []
  private var sequences: [Int] = []
  private var digests: [UInt64] = []
  private var operations: [Blob] = []
  private var authors: [String] = []
  private var times: [Timestamp] = []
  private var checksums: [RecordChecksum] = []

  /// - Returns: The bytes of the entry's operation.
  mutating func add(_ entry: LogEntry, _ checksum: RecordChecksum, of place: Int) -> Int {
    let operation = entry.operationColumn
    places.append(place)
    revisions.append(entry.revision)
    clients.append(entry.client)
    sequences.append(entry.sequence)
    digests.append(entry.digest)
    operations.append(Blob(operation))
    authors.append(entry.author)
    times.append(entry.time)
    checksums.append(checksum)
    return operation.count
  }

  var values: [any StoredValue] {
    [places, revisions, clients, sequences, digests, operations, authors, times, checksums]
  }
}

private struct SetBackColumns {
  private var places: [Int] = []
  private var revisions: [Int] = []

  mutating func add(_ revision: Int, of place: Int) {
    places.append(place)
    revisions.append(revision)
  }

  var values: [any StoredValue] { [places, revisions] }
}

private struct SessionColumns {
  private var places: [Int] = []
  private var clients: [String] = []
  private var sessions: [Int] = []

  mutating func add(_ client: String, _ session: Int, of place: Int) {
    places.append(place)
    clients.append(client)
    sessions.append(session)
  }

  var values: [any StoredValue] { [places, clients, sessions] }
}
