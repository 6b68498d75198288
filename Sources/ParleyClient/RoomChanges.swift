import ParleyClientCore
import ParleyJSON
import SocketMessages

/// Changes of a room's values: once, as transactions, and undone.
extension Room {
  func change(
    _ operations: [ValueOperation], ifOffsets: [ValueName: Int], cause: ValueCause = .change
  ) async throws(ValueError) {
    do throws(ValueConflict) {
      try await publish(operations, ifOffsets: ifOffsets, cause: cause)
    } catch {
      throw error.reason
    }
  }

  /// The reason why a change was not published.
  private enum ValueConflict: Error {
    /// A condition did not hold: the current values.
    case values(NamedValues)
    case other(ValueError)

    var reason: ValueError {
      switch self {
      case .values(let values):
        .conflict(Dictionary(values.all.map { ($0.name.text, $0.offset) }) { $1 })
      case .other(let error): error
      }
    }
  }

  private func publish(
    _ operations: [ValueOperation], ifOffsets: [ValueName: Int], cause: ValueCause
  ) async throws(ValueConflict) {
    guard let parley else { throw .other(.failed(.closed)) }
    defer { withExtendedLifetime(parley) {} }
    let key = RoomScreen.newKey()
    do throws(PublishError) {
      let (event, answer) = try screen.change(
        operations, ifOffsets, in: name, key: key, cause: cause)
      parley.handle(.core(.room(name, event)))
      noteSteps()
      _ = try await parley.result(of: answer)
    } catch {
      guard let values = conflicts.removeValue(forKey: key) else { throw .other(.failed(error)) }
      throw .values(values)
    }
  }

  // MARK: Transactions

  /// Publishes the operations that a function returns for the current values of names, under the
  /// condition that they have not changed; with other values again, if they have.
  func transaction(
    _ names: Set<ValueName>, tries: Int,
    _ update: ([ValueName: JSONValue]) throws -> [ValueOperation]
  ) async throws -> Bool {
    try await until { $0.isCurrent(names) }
    var values: [ValueName: RoomValue] = [:]
    for name in names { values[name] = replica?.stored(name) }
    var count = 1
    while true {
      let operations = try update(values.mapValues(\.value))
      guard !operations.isEmpty else { return false }
      var offsets: [ValueName: Int] = [:]
      for name in names { offsets[name] = values[name]?.offset ?? 0 }
      do throws(ValueConflict) {
        try await publish(operations, ifOffsets: offsets, cause: .change)
        return true
      } catch {
        guard case .values(let current) = error else { throw error.reason }
        guard count < tries else { throw ValueError.tooManyConflicts(tries: count) }
        for item in current.all {
          values[item.name] = item.value.map { RoomValue(value: $0, offset: item.offset) }
        }
      }
      try await pause(count)
      try await until { _ in true }
      count += 1
    }
  }

  // MARK: Undo

  /// Undoes the newest step of a kind, after the undo before it.
  func revert(_ cause: ValueCause) async throws -> Bool {
    let earlier = reverting
    let task = Task {
      _ = await earlier?.result
      return try await self.revertNow(cause)
    }
    reverting = task
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }

  private func revertNow(_ cause: ValueCause) async throws -> Bool {
    guard let key = replica?.undo.last(cause) else { return false }
    var offset = 0
    for count in 1...Self.triesMax {
      try await until { [offset] replica in
        !replica.undo.contains(key, cause) || replica.contains(key, upTo: offset)
      }
      // It was refused meanwhile.
      guard let replica, replica.undo.contains(key, cause) else { return false }
      do throws(ValueConflict) {
        switch replica.inverse(of: key, cause) {
        case .unknown: throw .other(.failed(.unsure))
        case .changedSince(let names): throw .other(.changedSince(names.map(\.text)))
        case .operations([], _): break
        case .operations(let operations, let offsets):
          try await publish(operations, ifOffsets: offsets, cause: cause)
        }
        dropStep(key)
        return true
      } catch {
        guard case .values(let current) = error else {
          dropStep(key)
          throw error.reason
        }
        // Publications show whether the other change was of the same fields.
        offset = current.all.map(\.offset).max() ?? 0
      }
      try await pause(count)
    }
    dropStep(key)
    throw ValueError.tooManyConflicts(tries: Self.triesMax)
  }

  private static let triesMax = 25

  private func dropStep(_ key: String) {
    parley?.handle(.core(.room(name, .dropStep(key: key))))
    noteSteps()
  }

  /// Shows whether there is something to undo.
  func noteSteps() {
    guard let undo = replica?.undo else { return }
    let steps = (undo: undo.last(.undo) != nil, redo: undo.last(.redo) != nil)
    if hasSteps != steps { hasSteps = steps }
  }

  // MARK: Waiting

  private var replica: ValueReplica? { parley?.machine?.values(ofRoom: name) }

  /// Waits, longer after each try, so that of many clients one succeeds.
  private func pause(_ count: Int) async throws {
    let longest = min(20 * (count - 1), 400)
    if longest > 0 { try await Task.sleep(for: .milliseconds(Int.random(in: 0...longest))) }
  }

  /// Waits for a connection and a condition, at most for the client's timeout.
  private func until(_ condition: (ValueReplica) -> Bool) async throws(ValueError) {
    guard let parley else { throw .failed(.closed) }
    defer { withExtendedLifetime(parley) {} }
    let feed = Feed<Void>(bound: 1)
    stirs.add(feed)
    let wait = parley.beginWait(on: feed)
    defer { _ = parley.endWait(wait) }
    while !(state == .live && replica.map(condition) ?? false) {
      guard await feed.next() == nil else { continue }
      if let reason = parley.endWait(wait) { throw .failed(.noAnswer(reason)) }
      throw .failed(state == .closed ? .closed : .cancelled)
    }
  }
}
