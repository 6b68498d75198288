import ParleyClient

/// The newest messages of the most recently used threads.
package struct MessageCache: Sendable {
  /// The limits of the cache.
  package struct Bounds: Sendable {
    /// Maximum messages of a thread; beyond it, the oldest are dropped.
    package var messages = 1_000
    /// Maximum threads; beyond it, the least recently used one is dropped.
    package var threads = 100
    /// Maximum bytes of content in total.
    package var bytes = 16 << 20

    package init() {}
  }

  fileprivate struct Thread: Sendable {
    var epoch: String
    /// Sorted by offset, without duplicates.
    var messages: [ChatMessage] = []
    var bytes = 0
    /// The number of the last use; it increases with each use.
    var used = 0
  }

  private let bounds: Bounds
  private var threads: [ChatThread: Thread] = [:]
  private var useCount = 0
  package private(set) var bytes = 0

  package init(_ bounds: Bounds = Bounds()) { self.bounds = bounds }

  /// The number of messages.
  package var count: Int { threads.values.reduce(0) { $0 + $1.messages.count } }

  /// Adds messages of one thread, oldest first. Cached messages of the thread's former history are
  /// dropped.
  ///
  /// - Complexity: O(*m*) for *m* messages newer than all cached ones; otherwise O(*m* + *n*) for
  ///   *n* cached messages of the thread.
  package mutating func put(_ messages: [ChatMessage]) {
    guard let first = messages.first else { return }
    let key = first.id.thread
    let epoch = first.id.position.epoch
    useCount += 1
    var thread = threads.removeValue(forKey: key) ?? Thread(epoch: epoch)
    bytes -= thread.bytes
    if !thread.epoch.isSame(as: epoch) { thread = Thread(epoch: epoch) }
    thread.used = useCount
    thread.merge(messages)
    thread.shorten(to: bounds.messages)
    bytes += thread.bytes
    threads[key] = thread
    shorten(sparing: key)
  }

  private mutating func shorten(sparing key: ChatThread) {
    while threads.count > bounds.threads || bytes > bounds.bytes {
      if let oldest = threads.filter({ $0.key != key }).min(by: { $0.value.used < $1.value.used }) {
        threads[oldest.key] = nil
        bytes -= oldest.value.bytes
      } else {
        guard var thread = threads[key], !thread.messages.isEmpty else { return }
        bytes -= thread.bytes
        thread.shorten(to: thread.messages.count / 2)
        bytes += thread.bytes
        threads[key] = thread
      }
    }
  }

  /// Drops the messages that a person has sent.
  package mutating func forget(_ person: ChatPerson.ID) {
    for (key, var thread) in threads {
      bytes -= thread.bytes
      thread.keep { $0.sender != person }
      bytes += thread.bytes
      threads[key] = thread
    }
  }

  /// Returns messages whose text contains all words of a text, newest first by the server's time.
  package func found(_ text: String, in thread: ChatThread?, limit: Int) -> [ChatMessage] {
    let words = text.lowercased().split(whereSeparator: \.isWhitespace)
    guard !words.isEmpty, limit > 0 else { return [] }
    var found: [ChatMessage] = []
    for (key, value) in threads where thread == nil || thread == key {
      if Task.isCancelled { return [] }
      found += value.messages.filter { message in
        guard let text = message.text?.lowercased() else { return false }
        return words.allSatisfy { text.contains($0) }
      }
    }
    found.sort { ($0.time, $0.id.position.offset) > ($1.time, $1.id.position.offset) }
    return Array(found.prefix(limit))
  }

  @concurrent func found(
    _ text: String, in thread: ChatThread?, limit: Int
  ) async -> [ChatMessage] {
    let search: (String, ChatThread?, Int) -> [ChatMessage] = found(_:in:limit:)
    return search(text, thread, limit)
  }
}

extension MessageCache.Thread {
  fileprivate mutating func merge(_ new: [ChatMessage]) {
    let last = messages.last?.id.position.offset ?? 0
    guard let first = new.first, first.id.position.offset <= last else {
      for message in new { append(message) }
      return
    }
    let old = messages
    messages = []
    bytes = 0
    var index = 0
    for message in new {
      let offset = message.id.position.offset
      while index < old.count, old[index].id.position.offset <= offset {
        append(old[index])
        index += 1
      }
      append(message)
    }
    for message in old[index...] { append(message) }
  }

  private mutating func append(_ message: ChatMessage) {
    if let last = messages.last, last.id.position.offset >= message.id.position.offset { return }
    messages.append(message)
    bytes += message.json.count
  }

  fileprivate mutating func shorten(to count: Int) {
    guard messages.count > count else { return }
    let dropped = messages.count - count
    for message in messages[..<dropped] { bytes -= message.json.count }
    messages.removeFirst(dropped)
  }

  fileprivate mutating func keep(_ isKept: (ChatMessage) -> Bool) {
    messages.removeAll { !isKept($0) }
    bytes = messages.reduce(0) { $0 + $1.json.count }
  }
}

/// The cache of the signed-in person; it is cleared when another person signs in.
@MainActor final class MessageStore {
  private let parley: Parley
  private var person: String?
  private var messages = MessageCache()

  init(parley: Parley) { self.parley = parley }

  var cache: MessageCache {
    renew()
    return messages
  }

  func put(_ new: [ChatMessage]) {
    renew()
    messages.put(new)
  }

  func forget(_ person: ChatPerson.ID) { messages.forget(person) }

  private func renew() {
    // Before the first welcome the person is unknown.
    guard let id = parley.personID else { return }
    if let person, !person.isSame(as: id) { messages = MessageCache() }
    person = id
  }
}
