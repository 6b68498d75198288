public import ParleyGatewayPorts

/// Decides which people block which others. It is asked for each message, so it replies at once.
public protocol BlockingHandler: AnyObject {
  /// Called when the gateway starts. The handler can request its data from the store, whose reply
  /// arrives before anything is sent to subscribers.
  func start(store: any PeopleStore)
  /// Whether the author is hidden from the reader; with mutual blocks also the reverse.
  func separates(_ reader: PersonID, from author: PersonID) -> Bool
  /// Whether any author is hidden from this reader.
  func concerns(_ reader: PersonID) -> Bool
  /// Whether the author is hidden from any reader. Asked once per message to many readers; if true,
  /// which is the default, each reader is checked.
  func conceals(_ author: PersonID) -> Bool
  /// The people that a person blocks.
  func blocked(by person: PersonID) -> [PersonID]
  /// Starts a block, or ends it.
  func set(
    _ block: PersonBlock, isBlocked: Bool, store: any PeopleStore,
    then proceed: @escaping (StoreError?) -> Void)
  /// Whether all blocks are loaded; if not, they are being read. Until then no presence is shown.
  var isReady: Bool { get }
  /// Reads blocks that another node may have changed, and returns those that started or ended.
  func changedElsewhere(
    store: any PeopleStore, then proceed: @escaping ([PersonBlock]) -> Void)
}

extension BlockingHandler {
  /// Always true.
  public var isReady: Bool { true }

  /// Does nothing: the handler shares its blocks with no other node.
  public func changedElsewhere(
    store: any PeopleStore, then proceed: @escaping ([PersonBlock]) -> Void
  ) {}

  /// See ``BlockingHandler``.
  public func conceals(_ author: PersonID) -> Bool { true }
}

/// Blocks in the gateway's own store, with a copy of all of them in memory.
public final class StoredBlocking: BlockingHandler {
  private let isMutual: Bool
  private weak var store: (any PeopleStore)?
  private var isKnown = false
  private var isReading = false
  private var blocks: [PersonID: Set<PersonID>] = [:]
  /// The blockers of each blocked person.
  private var blockers: [PersonID: Set<PersonID>] = [:]

  /// - Parameter isMutual: Whether the blocker is hidden from the blocked person as well.
  public init(isMutual: Bool) { self.isMutual = isMutual }

  /// See ``BlockingHandler``.
  public func start(store: any PeopleStore) {
    self.store = store
    read()
  }

  private func read() {
    guard !isReading, let store else { return }
    isReading = true
    store.perform(.blocks) { [unowned self] reply in
      isReading = false
      guard case .blocks(let all) = reply else { return }
      for block in all { keep(block, isBlocked: true) }
      isKnown = true
    }
  }

  /// See ``BlockingHandler``.
  public func changedElsewhere(
    store: any PeopleStore, then proceed: @escaping ([PersonBlock]) -> Void
  ) {
    guard isKnown, !isReading else { return }
    isReading = true
    store.perform(.blocks) { [unowned self] reply in
      isReading = false
      guard case .blocks(let all) = reply else { return }
      let former = blocks
      blocks = [:]
      blockers = [:]
      var changed: [PersonBlock] = []
      for block in all {
        keep(block, isBlocked: true)
        if former[block.person]?.contains(block.blocked) != true { changed.append(block) }
      }
      for (person, others) in former {
        for other in others where blocks[person]?.contains(other) != true {
          changed.append(PersonBlock(person: person, blocked: other))
        }
      }
      changed.sort { ($0.person, $0.blocked) < ($1.person, $1.blocked) }
      proceed(changed)
    }
  }

  /// Whether all blocks are loaded. Until then no presence is shown, since any person might be
  /// blocked. Each call starts another read if the last one failed.
  private func knows() -> Bool {
    if !isKnown { read() }
    return isKnown
  }

  /// See ``BlockingHandler``.
  public var isReady: Bool { knows() }

  /// See ``BlockingHandler``.
  public func separates(_ reader: PersonID, from author: PersonID) -> Bool {
    guard knows() else { return true }
    if blocks[reader]?.contains(author) ?? false { return true }
    return isMutual && blockers[reader]?.contains(author) ?? false
  }

  /// See ``BlockingHandler``.
  public func concerns(_ reader: PersonID) -> Bool {
    !knows() || blocks[reader] != nil || (isMutual && blockers[reader] != nil)
  }

  /// See ``BlockingHandler``.
  public func conceals(_ author: PersonID) -> Bool {
    !knows() || blockers[author] != nil || (isMutual && blocks[author] != nil)
  }

  /// See ``BlockingHandler``.
  public func blocked(by person: PersonID) -> [PersonID] {
    (blocks[person].map(Array.init) ?? []).sorted()
  }

  /// See ``BlockingHandler``.
  public func set(
    _ block: PersonBlock, isBlocked: Bool, store: any PeopleStore,
    then proceed: @escaping (StoreError?) -> Void
  ) {
    store.perform(.block(block, isBlocked: isBlocked)) { [unowned self] reply in
      if let error = reply.failure { return proceed(error) }
      keep(block, isBlocked: isBlocked)
      proceed(nil)
    }
  }

  private func keep(_ block: PersonBlock, isBlocked: Bool) {
    Self.keep(block.blocked, of: block.person, isBlocked, in: &blocks)
    Self.keep(block.person, of: block.blocked, isBlocked, in: &blockers)
  }

  private static func keep(
    _ other: PersonID, of person: PersonID, _ isBlocked: Bool,
    in table: inout [PersonID: Set<PersonID>]
  ) {
    if isBlocked {
      table[person, default: []].insert(other)
    } else {
      table[person]?.remove(other)
      if table[person]?.isEmpty ?? false { table[person] = nil }
    }
  }
}
