#if !hasFeature(Embedded)
  import ParleyJSON
  package import SocketMessages

  /// The own changes of a room's values that can be undone, and those that were undone.
  ///
  /// What a change replaced is known when its publication arrives. A later change of the same name or
  /// field by another client prevents its undo.
  package struct ValueUndo: Sendable {
    /// An operation with the value that it replaced.
    struct Part: Sendable, Equatable {
      let operation: ValueOperation
      let before: JSONValue?
    }

    private struct Step: Sendable {
      let key: String
      /// The operations with what they replaced; `nil` until the publication has arrived.
      var parts: [Part]?
      /// The names that others have changed since.
      var lost: Set<ValueName> = []
    }

    /// The way in which a change is undone.
    package enum Inverse: Sendable, Equatable {
      /// Operations that undo it if each name has changed last at its offset.
      case operations([ValueOperation], ifOffsets: [ValueName: Int])
      /// No way, because others have changed these names since.
      case changedSince([ValueName])
      /// No way, because what the change replaced is not known.
      case unknown
    }

    /// Maximum steps of each kind; beyond it, the oldest is dropped.
    static let stepsMax = 100

    private var undoable: [Step] = []
    private var redoable: [Step] = []

    /// The key of the newest step: of a change for an undo, and of an undo for a redo.
    package func last(_ cause: ValueCause) -> String? { steps(cause).last?.key }

    /// Whether a step is still there.
    package func contains(_ key: String, _ cause: ValueCause) -> Bool {
      steps(cause).contains { $0.key == key }
    }

    private func steps(_ cause: ValueCause) -> [Step] { cause == .redo ? redoable : undoable }

    /// Adds an own change, the newest.
    mutating func propose(_ key: String, _ cause: ValueCause) {
      if cause == .undo {
        redoable.append(Step(key: key))
        redoable.removeFirst(max(0, redoable.count - Self.stepsMax))
      } else {
        undoable.append(Step(key: key))
        undoable.removeFirst(max(0, undoable.count - Self.stepsMax))
      }
      if cause == .change { redoable = [] }
    }

    /// Removes a change that was refused, or undone.
    mutating func remove(_ key: String) {
      undoable.removeAll { $0.key == key }
      redoable.removeAll { $0.key == key }
    }

    /// Whether a publication is an own change whose undo is possible.
    func isOwn(_ key: String?) -> Bool {
      guard let key else { return false }
      return contains(key, .undo) || contains(key, .redo)
    }

    /// Notes what an own change has replaced; `nil` if it is not known.
    mutating func published(_ key: String, _ parts: [Part]?) {
      for index in undoable.indices where undoable[index].key == key {
        undoable[index].parts = parts
      }
      for index in redoable.indices where redoable[index].key == key {
        redoable[index].parts = parts
      }
    }

    /// Notes the operations of another client.
    mutating func overwritten(by operations: [ValueOperation]) {
      lose { own in operations.contains { $0.overwrites(own) } }
    }

    /// Notes that values were read again, without the publications in between.
    mutating func reread(_ hasChanged: (ValueName) -> Bool) { lose { hasChanged($0.name) } }

    private mutating func lose(_ isLost: (ValueOperation) -> Bool) {
      func lose(_ step: inout Step) {
        for part in step.parts ?? [] where isLost(part.operation) {
          step.lost.insert(part.operation.name)
        }
      }
      for index in undoable.indices { lose(&undoable[index]) }
      for index in redoable.indices { lose(&redoable[index]) }
    }

    /// Returns how a change is undone.
    ///
    /// - Parameter stored: Returns the server's value of a name.
    func inverse(
      of key: String, _ cause: ValueCause, _ stored: (ValueName) -> RoomValue?
    ) -> Inverse {
      guard let step = steps(cause).first(where: { $0.key == key }), let parts = step.parts
      else { return .unknown }
      var values: [ValueName: JSONTree?] = [:]
      var offsets: [ValueName: Int] = [:]
      var changed = step.lost
      var operations: [ValueOperation] = []
      for part in parts.reversed() {
        let name = part.operation.name
        if offsets[name] == nil {
          let value = stored(name)
          offsets[name] = value?.offset ?? 0
          values[name] = .some(value.map { JSONTree($0.value) })
        }
        let value = values[name] ?? nil
        guard let former = part.reverted(value) else {
          changed.insert(name)
          continue
        }
        if let effect = part.effect(from: value, to: former.value) {
          operations.append(ValueOperation(name, effect))
        }
        values[name] = .some(former.value)
      }
      guard changed.isEmpty else { return .changedSince(changed.sorted()) }
      return .operations(operations, ifOffsets: offsets)
    }
  }

  extension ValueUndo.Part {
    /// A value, or none.
    struct Former { let value: JSONTree? }

    /// Returns the value before the operation, from the value that it left; `nil` if another one is
    /// there.
    func reverted(_ value: JSONTree?) -> Former? {
      let former = before.map { JSONTree($0) }
      switch operation.effect {
      case .add(let number):
        guard let sum = value?.canonical.integer else { return nil }
        if former == nil, sum == number { return Former(value: nil) }
        return Former(value: JSONTree(JSONValue(sum - number)))
      case .merge(let patch):
        let patch = JSONTree(patch)
        if let value, let former, value.fields != nil, former.fields != nil {
          return value.unmerged(patch, from: former).map { Former(value: $0) }
        }
        let left = (former ?? .object([])).merged(with: patch)
        return value == left ? Former(value: former) : nil
      case .set(let left): return value == JSONTree(left) ? Former(value: former) : nil
      case .delete: return value == nil ? Former(value: former) : nil
      }
    }

    /// Returns the effect that makes one value another; `nil` if they are equal.
    func effect(from value: JSONTree?, to former: JSONTree?) -> ValueOperation.Effect? {
      guard value != former else { return nil }
      guard let former else { return .delete }
      // An addition does not disturb those of others.
      if case .add(let number) = operation.effect { return .add(-number) }
      if let value, value.fields != nil, former.fields != nil, let patch = value.patch(to: former) {
        return .merge(patch.canonical)
      }
      return .set(former.canonical)
    }
  }

  extension ValueOperation {
    /// Whether the operation, a later one of another client, changes what an own one has left.
    fileprivate func overwrites(_ own: ValueOperation) -> Bool {
      guard name == own.name else { return false }
      switch (own.effect, effect) {
      case (.add, .add): return false
      case (.merge(let patch), .merge(let other)):
        return JSONTree(patch).overlaps(JSONTree(other))
      default: return true
      }
    }
  }

  extension JSONTree {
    /// The fields of an object; `nil` for another value.
    fileprivate var fields: [[UInt8]: JSONTree]? {
      guard case .object(let fields) = self else { return nil }
      return Dictionary(fields.map { ($0.name, $0.value) }) { $1 }
    }

    /// Whether two patches change one field.
    fileprivate func overlaps(_ other: JSONTree) -> Bool {
      guard case .object(let own) = self, let others = other.fields else { return true }
      return own.contains { field in others[field.name].map { field.value.overlaps($0) } ?? false }
    }

    /// Returns an object without a patch that was merged into another one; `nil` if what the patch
    /// left is not there.
    fileprivate func unmerged(_ patch: JSONTree, from before: JSONTree) -> JSONTree? {
      guard var fields, case .object(let changes) = patch, let former = before.fields else {
        return nil
      }
      for change in changes {
        let (present, value) = (fields[change.name], former[change.name])
        if case .object = change.value, let value, value.fields != nil {
          guard let inner = present?.unmerged(change.value, from: value) else { return nil }
          fields[change.name] = inner
          continue
        }
        let left = change.value.isNull ? nil : JSONTree.object([]).merged(with: change.value)
        guard present == left else { return nil }
        fields[change.name] = value
      }
      return JSONTree(fields)
    }

    /// Returns a patch that makes this object another one; `nil` if there is none.
    fileprivate func patch(to other: JSONTree) -> JSONTree? {
      guard let own = fields, let others = other.fields else { return nil }
      var patch: [[UInt8]: JSONTree] = [:]
      for name in own.keys where others[name] == nil { patch[name] = JSONTree(.null) }
      for (name, value) in others where own[name] != value {
        if let former = own[name], former.fields != nil, value.fields != nil {
          guard let inner = former.patch(to: value) else { return nil }
          patch[name] = inner
        } else if value.hasNull {
          return nil
        } else {
          patch[name] = value
        }
      }
      return JSONTree(patch)
    }

    /// Whether merging the value would lose fields that are `null`.
    private var hasNull: Bool { isNull || fields?.values.contains(where: \.hasNull) ?? false }

    private init(_ fields: [[UInt8]: JSONTree]) {
      self = .object(
        fields.map { Field(name: $0, value: $1) }
          .sorted { $0.name.lexicographicallyPrecedes($1.name) })
    }
  }
#endif
