#if !hasFeature(Embedded)
  public import ParleyJSON
  public import SocketMessages

  /// A client's view of a room's values: the server's values, with this client's pending changes over
  /// them.
  ///
  /// A pending change is shown at once, and applied again over each change of others. A refused
  /// change is withdrawn. An accepted change is retained until its publication arrives, so that no
  /// older value is shown in between.
  package struct ValueReplica: Sendable {
    /// A change of this client that the server's values do not contain yet.
    private struct Pending: Sendable {
      let key: String
      let operations: [ValueOperation]
      /// The position at which the change was published; `nil` before the server has answered.
      var position: RoomPosition?
      /// Whether the change was published before the last subscription was sent. What that
      /// subscription brings contains the change, or the server has lost it.
      var isSettling = false
    }

    private var mirror: ValueMirror?
    private var pending: [Pending] = []
    /// The values that the app knows.
    private var shown: [ValueName: JSONValue] = [:]
    /// The names that have changed since the last update, and those that pending changes named then.
    private var touched: Set<ValueName> = []
    private var overlaid: Set<ValueName> = []
    /// Whether pages have arrived since the last update.
    private var isAnew = false
    /// Whether the app knows all values.
    private(set) var isReady = false
    /// The own changes that can be undone.
    package private(set) var undo = ValueUndo()
    /// The position up to which publications had arrived before the values were read again.
    private var before: RoomPosition?
    /// The number of the request for a page, on this connection.
    var pageMessage: Int?

    /// The name after which the next page begins; `.some(nil)` for the first page, `nil` if no page
    /// is missing.
    var nextPage: ValueName?? {
      guard let mirror else { return .some(nil) }
      if let after = mirror.nextAfter { return .some(after) }
      return mirror.isComplete ? nil : .some(nil)
    }

    /// Begins an empty copy, at the position up to which publications have arrived.
    mutating func begin(at position: RoomPosition) {
      if let mirror, mirror.isComplete { before = mirror.position }
      mirror = ValueMirror(at: position)
      // Of a former history, the pages contain what was not lost.
      pending.removeAll { $0.position.map { $0.epoch != position.epoch } ?? false }
      settle()
    }

    /// Notes that a subscription is sent.
    mutating func subscribing() {
      for index in pending.indices where pending[index].position != nil {
        pending[index].isSettling = true
      }
    }

    /// Handles the reply to a subscription: the values contain what was published before.
    mutating func subscribed() { pending.removeAll(where: \.isSettling) }

    /// Adds the next page. Returns whether it belongs to this history.
    mutating func add(_ page: NamedValues, at position: RoomPosition, hasMore: Bool) -> Bool {
      let values = page.all.compactMap { item in
        item.value.map { (item.name, RoomValue(value: $0, offset: item.offset)) }
      }
      isAnew = true
      guard mirror?.add(values, at: position, hasMore: hasMore) ?? false else { return false }
      if let mirror, mirror.isComplete, let before {
        let isOther = before.epoch != mirror.position.epoch
        undo.reread { isOther || mirror.values[$0]?.offset ?? 0 > before.offset }
        self.before = nil
      }
      return true
    }

    /// Applies a publication of the values' history. Returns whether it fits the values.
    mutating func apply(_ publication: Publication) -> Bool {
      if let epoch = mirror?.position.epoch, let key = publication.senderID,
        let own = pending.firstIndex(where: { $0.key.isSame(as: key) })
      {
        pending[own].position = RoomPosition(epoch: epoch, offset: publication.offset)
      }
      let operations = publication.values.flatMap(ValueOperation.list) ?? []
      noteUndo(of: publication, operations)
      let changed = mirror?.apply(
        operations, offset: publication.offset, time: publication.time)
      touched.formUnion(changed ?? [])
      settle()
      return mirror == nil || changed != nil
    }

    /// Notes what an own change replaces, or that others change what own ones have left.
    private mutating func noteUndo(of publication: Publication, _ operations: [ValueOperation]) {
      guard let mirror, publication.offset > mirror.position.offset else { return }
      let counted = operations.filter { mirror.counts($0.name, publication.offset) }
      guard let key = publication.senderID, undo.isOwn(key) else {
        return undo.overwritten(by: counted)
      }
      // What a page contains already has replaced something that is not known.
      guard counted.count == operations.count else { return }
      var values: [ValueName: RoomValue?] = [:]
      var parts: [ValueUndo.Part] = []
      for operation in operations {
        let former = values[operation.name] ?? mirror.values[operation.name]
        parts.append(ValueUndo.Part(operation: operation, before: former?.value))
        var room: [ValueName: RoomValue] = [:]
        room[operation.name] = former
        let after = try? ValueChange([operation]).applied(
          to: room, ValueTotals(), at: ValueOrigin(offset: 0, time: 0), limits: .unlimited)
        values[operation.name] = .some(after?.values[operation.name] ?? nil)
      }
      undo.published(key, parts)
    }

    /// Advances to a position up to which all publications have arrived.
    mutating func advance(to position: RoomPosition) {
      guard mirror?.position.epoch == position.epoch else { return }
      mirror?.advance(to: position.offset)
      settle()
    }

    // MARK: Own changes

    /// Shows an own change.
    ///
    /// - Parameter cause: `nil` for a change of an earlier process, which cannot be undone.
    mutating func add(_ operations: [ValueOperation], key: String, cause: ValueCause?) {
      if let cause { undo.propose(key, cause) }
      pending.append(Pending(key: key, operations: operations))
    }

    /// Records that a change was accepted. It is removed once its publication has arrived.
    mutating func accepted(key: String, at position: RoomPosition) {
      guard let index = pending.firstIndex(where: { $0.key == key }) else { return }
      pending[index].position = position
      settle()
    }

    /// Removes a change that was refused.
    mutating func withdraw(key: String) {
      pending.removeAll { $0.key == key }
      undo.remove(key)
    }

    /// Removes a step that was undone, or cannot be.
    mutating func dropStep(key: String) { undo.remove(key) }

    /// Returns how an own change is undone.
    package func inverse(of key: String, _ cause: ValueCause) -> ValueUndo.Inverse {
      undo.inverse(of: key, cause) { mirror?.values[$0] }
    }

    /// The server's value of a name, without own changes over it.
    package func stored(_ name: ValueName) -> RoomValue? { mirror?.values[name] }

    /// Whether the server's values are known, and contain all own changes of these names.
    package func isCurrent(_ names: Set<ValueName>) -> Bool {
      guard let mirror, mirror.isComplete else { return false }
      return !pending.contains { $0.operations.contains { names.contains($0.name) } }
    }

    /// Whether the server's values are known, and contain an own change, and all others up to an
    /// offset.
    package func contains(_ key: String, upTo offset: Int) -> Bool {
      guard let mirror, mirror.isComplete, mirror.position.offset >= offset else { return false }
      return !pending.contains { $0.key == key }
    }

    private mutating func settle() {
      guard let position = mirror?.position else { return }
      pending.removeAll {
        $0.position.map { $0.epoch == position.epoch && $0.offset <= position.offset } ?? false
      }
    }

    // MARK: The view

    /// Returns how the values differ from those that the app knows; `nil` if they do not.
    ///
    /// - Complexity: O(*n*) names that have changed since the last call, or that pending changes name.
    mutating func takeUpdate() -> ValueUpdate? {
      guard let mirror, mirror.isComplete else { return nil }
      let overlay = overlay(on: mirror)
      var names = touched.union(overlaid).union(overlay.keys)
      if isAnew { names.formUnion(mirror.values.keys); names.formUnion(shown.keys) }
      touched = []
      overlaid = Set(overlay.keys)
      isAnew = false
      var changed: [ValueName: JSONValue?] = [:]
      for name in names {
        let value = overlay[name] ?? mirror.values[name]?.value
        guard shown[name] != value else { continue }
        changed[name] = .some(value)
        shown[name] = value
      }
      guard !changed.isEmpty || !isReady else { return nil }
      isReady = true
      return ValueUpdate(changed: changed)
    }

    /// Returns the values of the names in pending changes, after these changes.
    private func overlay(on mirror: ValueMirror) -> [ValueName: JSONValue?] {
      var overlay: [ValueName: JSONValue?] = [:]
      for operation in pending.flatMap(\.operations) {
        let former = overlay[operation.name] ?? mirror.values[operation.name]?.value
        var room = RoomValues()
        let origin = ValueOrigin(offset: 0, time: 0)
        if let former {
          try? room.apply(
            ValueChange([ValueOperation(operation.name, .set(former))]), at: origin,
            limits: .unlimited)
        }
        // An operation that does not fit is left out: the server refuses it, or it fits again after
        // other clients' changes.
        guard (try? room.apply(ValueChange([operation]), at: origin, limits: .unlimited)) != nil
        else { continue }
        overlay[operation.name] = .some(room[operation.name]?.value)
      }
      return overlay
    }
  }

  /// A change of a room's values, as the app sees them: with its own changes that wait for an answer.
  public struct ValueUpdate: Sendable, Equatable {
    /// The new values of the changed names; `nil` for a name without a value.
    public var changed: [ValueName: JSONValue?]

    /// Creates an update.
    public init(changed: [ValueName: JSONValue?]) { self.changed = changed }
  }

  extension RoomMachine {
    /// Requests the next page of values, if one is missing.
    mutating func requestPage(_ turn: inout Turn) {
      guard turn.isOnline, phase == .live, replica?.pageMessage == nil,
        let after = replica?.nextPage
      else { return }
      replica?.pageMessage = turn.send(.values(.init(room: name, after: after)))
    }

    /// Reports to the app how the values have changed.
    mutating func tellValues(_ turn: inout Turn) {
      if let update = replica?.takeUpdate() { tell(.values(update), &turn) }
    }

    /// Follows the room's values from now on.
    mutating func followValues(_ turn: inout Turn) {
      guard replica == nil else { return }
      replica = ValueReplica()
      for change in pendingChanges {
        replica?.add(change.operations, key: change.key, cause: nil)
      }
      resubscribe(&turn)
    }

    /// Handles the first page in the reply to a subscription, or asks for it.
    mutating func beginValues(_ reply: ServerMessage.Subscribed, _ turn: inout Turn) {
      guard replica != nil else { return }
      replica?.pageMessage = nil
      replica?.subscribed()
      if let values = reply.values {
        replica?.begin(at: reply.position)
        _ = replica?.add(values, at: reply.position, hasMore: reply.hasMore)
      } else if reply.isRecovered != true {
        replica?.begin(at: reply.position)
      } else {
        replica?.advance(to: reply.position)
      }
      requestPage(&turn)
      tellValues(&turn)
    }

    /// Handles a page of values.
    mutating func values(
      _ reply: ServerMessage.Values, answering number: Int?, _ turn: inout Turn
    ) {
      guard let number, number == replica?.pageMessage, let position else { return }
      replica?.pageMessage = nil
      if replica?.nextPage == .some(nil) { replica?.begin(at: position) }
      guard replica?.add(reply.values, at: reply.position, hasMore: reply.hasMore) ?? false else {
        return mend(&turn)
      }
      requestPage(&turn)
      tellValues(&turn)
    }

    /// Applies a publication to the values.
    mutating func applyValues(of publication: Publication, _ turn: inout Turn) {
      guard replica != nil else { return }
      if !(replica?.apply(publication) ?? true), let position {
        // The copy differs from the server's values: read them again.
        replica?.begin(at: position)
        replica?.pageMessage = nil
        requestPage(&turn)
      }
      tellValues(&turn)
    }

    /// Reports to the app why a change of values was refused, before `publishFailed`.
    mutating func refuseChange(
      _ key: String, _ failure: ServerMessage.Failure, _ turn: inout Turn
    ) {
      replica?.withdraw(key: key)
      if failure.values != nil || failure.position != nil {
        tell(.conflict(key: key, failure.values ?? NamedValues(), failure.position), &turn)
      }
      tellValues(&turn)
    }
  }
#endif
