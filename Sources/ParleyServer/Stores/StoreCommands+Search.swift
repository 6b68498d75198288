package import ParleyGatewayPorts

/// Commands for the word index.
extension StoreCommands {
  /// Finds notes by words, best first; a server may be running.
  package func search(_ words: String, limit: Int) throws -> [SearchHit] {
    let query: SearchQuery
    do throws(SearchQueryError) {
      query = try SearchQuery(words)
    } catch {
      throw FileError(
        "expected at most \(SearchQuery.wordsMax) words, and \(SearchQuery.bytesMax) bytes")
    }
    let store = try configuration.repairableStore(writing: false)
    guard let index = try configuration.indexForReading() else {
      throw FileError("there is no index of words yet: parley serve makes it, and parley reindex")
    }
    var keeper = IndexKeeper(store: store, open: { index }, log: NoLog())
    let found = keeper.reply(to: .find(query, skipping: 0, limit: limit))
    guard case .ids(let ids, _) = found else { throw Self.failure(found) }
    let places = keeper.reply(to: .places(query, ids))
    guard case .hits(let hits) = places else { throw Self.failure(places) }
    return hits
  }

  private static func failure(_ reply: SearchReply) -> any Error {
    if case .failed(let error) = reply { error } else { FileError("the index cannot be read now") }
  }

  /// Rebuilds the word index; no server may be running.
  ///
  /// - Returns: The number of indexed notes.
  package func reindex() throws -> Int {
    guard try exists() else { throw FileError("there is no store at \(name)") }
    let store = try configuration.repairableStore(writing: true)
    let index = try configuration.store.openIndex()
    try index.clear()
    var keeper = IndexKeeper(store: store, open: { index }, log: NoLog())
    // Advance the time past all pauses: no server needs the processor.
    var now: Int64 = 0
    while !keeper.isSettled {
      now += 1_000
      keeper.work(at: now)
      if let failure = keeper.failure { throw failure }
    }
    return keeper.indexed
  }

  /// A log that discards its lines, since errors are thrown.
  private struct NoLog: LogSink {
    let level = LogLevel.error

    func write(_ level: LogLevel, _ message: String, _ data: [(key: String, value: String)]) {}
  }
}
