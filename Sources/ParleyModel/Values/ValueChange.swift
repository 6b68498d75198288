#if !hasFeature(Embedded)
  import ParleyJSON

  /// A change of a room's values: operations that are applied in order, all of them or none.
  public struct ValueChange: Sendable, Hashable {
    /// The operations.
    public var operations: [ValueOperation]
    /// The offset at which each of these names must have changed last; 0 if it must not exist.
    public var ifOffsets: [ValueName: Int]

    /// Creates a change, by default without conditions.
    public init(_ operations: [ValueOperation], ifOffsets: [ValueName: Int] = [:]) {
      self.operations = operations
      self.ifOffsets = ifOffsets
    }

    /// The names whose values the change needs, without repetitions and in ascending order.
    public var names: [ValueName] {
      Set(operations.map(\.name)).union(ifOffsets.keys).sorted()
    }

    /// Whether the values are bound to the connections of the client that publishes the change.
    public var needsConnection: Bool { operations.contains { $0.lifetime == .connection } }
  }

  /// The reason why a change of values is refused as a whole.
  public enum ValueRefusal: Error, Sendable, Hashable {
    /// The values of these names have another last change than the condition requires; `nil` for a
    /// name without a value.
    case conflict([ValueName: RoomValue?])
    /// The result of an operation, given by its index, exceeds the limit of one value.
    case valueTooLarge(index: Int, bytes: Int, bytesMax: Int)
    /// The room would have more names than allowed.
    case tooManyNames(namesMax: Int)
    /// The names and values of the room would exceed the limit.
    case tooManyBytes(bytesMax: Int)
    /// An operation, given by its index, adds to a value that is not an integer of a double.
    case notAnInteger(index: Int)
    /// The result of an addition, given by its index, exceeds ``ValueOperation/numberMax``.
    case numberTooLarge(index: Int)
    /// The result of a merge, given by its index, is nested deeper than allowed.
    case tooDeep(index: Int)
  }

  extension ValueRefusal: CustomStringConvertible {
    /// The reason in words, without any name or value.
    public var description: String {
      switch self {
      case .conflict(let current):
        "\(current.count) of the named values have changed; "
          + "look at their current values and offsets, and decide again"
      case .valueTooLarge(let index, let bytes, let bytesMax):
        "a value may have \(bytesMax) bytes; after operation \(index) one would have \(bytes)"
      case .tooManyNames(let namesMax):
        "a room may have \(namesMax) named values; delete some first"
      case .tooManyBytes(let bytesMax):
        "the values of a room may have \(bytesMax) bytes in total; delete some first"
      case .notAnInteger(let index):
        "operation \(index) adds to a value that is not an integer of at most 2^53; set it first"
      case .numberTooLarge(let index):
        "the result of operation \(index) would exceed 2^53"
      case .tooDeep(let index):
        "a value may be nested \(JSONValue.depthMax) levels deep; after operation \(index) one "
          + "would be deeper"
      }
    }
  }

  /// The position and time of a change, and the client that published it.
  public struct ValueOrigin: Sendable, Hashable {
    /// The offset of the publication.
    public var offset: Int
    /// The time of the publication.
    public var time: Timestamp
    /// The id of the client to whose connections values may be bound.
    public var client: String?

    /// Creates an origin, by default without a client.
    public init(offset: Int, time: Timestamp, client: String? = nil) {
      self.offset = offset
      self.time = time
      self.client = client
    }
  }

  /// The outcome of an accepted change.
  public struct ChangedValues: Sendable, Hashable {
    /// The new values of the changed names; `nil` for a name without a value.
    public var values: [ValueName: RoomValue?]
    /// The totals of the room after the change.
    public var totals: ValueTotals
  }

  extension ValueChange {
    /// Returns the outcome of the change, or throws if it is refused as a whole.
    ///
    /// - Parameters:
    ///   - current: The current values of ``names``; names without a value are missing.
    ///   - totals: The totals of the room.
    /// - Complexity: O(*n*) bytes of the operations and the values that they change, whatever else
    ///   the room contains.
    public func applied(
      to current: [ValueName: RoomValue], _ totals: ValueTotals, at origin: ValueOrigin,
      limits: ValueLimits
    ) throws(ValueRefusal) -> ChangedValues {
      try checkConditions(current)
      var changed: [ValueName: RoomValue?] = [:]
      for (index, operation) in operations.enumerated() {
        let former: RoomValue? =
          if let known = changed[operation.name] { known } else { current[operation.name] }
        guard let value = try operation.result(for: former?.value, index: index, limits) else {
          changed[operation.name] = .some(nil)
          continue
        }
        changed[operation.name] = .some(operation.bound(value, at: origin))
      }
      var after = totals
      for (name, value) in changed {
        after.replace(name, current[name]?.value, by: value?.value)
      }
      // Names that were deleted again, or never existed, have not changed.
      for (name, value) in changed where value == nil && current[name] == nil {
        changed[name] = nil
      }
      // A room over a limit that was lowered may still shrink.
      guard after.names <= max(limits.namesMax, totals.names) else {
        throw .tooManyNames(namesMax: limits.namesMax)
      }
      guard after.bytes <= max(limits.bytesMax, totals.bytes) else {
        throw .tooManyBytes(bytesMax: limits.bytesMax)
      }
      return ChangedValues(values: changed, totals: after)
    }

    private func checkConditions(
      _ current: [ValueName: RoomValue]
    ) throws(ValueRefusal) {
      var conflicts: [ValueName: RoomValue?] = [:]
      for (name, offset) in ifOffsets where current[name]?.offset ?? 0 != offset {
        conflicts[name] = .some(current[name])
      }
      guard conflicts.isEmpty else { throw .conflict(conflicts) }
    }
  }

  extension ValueOperation {
    /// Returns the value after this operation; `nil` for none.
    fileprivate func result(
      for former: JSONValue?, index: Int, _ limits: ValueLimits
    ) throws(ValueRefusal) -> JSONValue? {
      let value: JSONValue
      switch effect {
      case .delete: return nil
      case .set(let new): value = new
      case .merge(let patch):
        let merged = (former.map(JSONTree.init) ?? .object([])).merged(with: JSONTree(patch))
        guard merged.depth <= JSONValue.depthMax else { throw .tooDeep(index: index) }
        value = merged.canonical
      case .add(let number):
        guard let sum = former.map({ $0.integer }) ?? 0 else { throw .notAnInteger(index: index) }
        // Neither exceeds 2^53, so that the sum does not overflow.
        guard (sum + number).magnitude <= Self.numberMax.magnitude else {
          throw .numberTooLarge(index: index)
        }
        value = JSONValue(sum + number)
      }
      guard value.utf8.count <= limits.valueBytesMax else {
        throw .valueTooLarge(
          index: index, bytes: value.utf8.count, bytesMax: limits.valueBytesMax)
      }
      return value
    }

    /// Returns a value with the lifetime of this operation.
    fileprivate func bound(_ value: JSONValue, at origin: ValueOrigin) -> RoomValue {
      var result = RoomValue(value: value, offset: origin.offset)
      switch lifetime {
      case .unlimited: break
      case .seconds(let seconds):
        let lifetime = Timestamp(seconds) * 1_000
        let (time, overflow) = origin.time.addingReportingOverflow(lifetime)
        result.expiry = .init(time: overflow ? .max : time, lifetime: lifetime)
      case .connection: result.holder = origin.client
      }
      return result
    }
  }
#endif
