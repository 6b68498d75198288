#if !hasFeature(Embedded)
  import ParleyJSON

  /// All values of a room: the fold of its accepted changes.
  public struct RoomValues: Sendable, Hashable {
    /// The values by name.
    public private(set) var values: [ValueName: RoomValue] = [:]
    /// The number and size of the values.
    public private(set) var totals = ValueTotals()

    /// Creates a room without values.
    public init() {}

    /// The value of a name; `nil` if it has none.
    public subscript(name: ValueName) -> RoomValue? { values[name] }

    /// The values in the order of their names.
    public var inOrder: [(name: ValueName, value: RoomValue)] {
      values.map { ($0, $1) }.sorted { $0.name < $1.name }
    }

    /// Applies a change as a whole, or throws without an effect.
    public mutating func apply(
      _ change: ValueChange, at origin: ValueOrigin, limits: ValueLimits = ValueLimits()
    ) throws(ValueRefusal) {
      put(try change.applied(to: values, totals, at: origin, limits: limits))
    }

    /// Ends lifetimes from when the clock was ahead as if they had begun now.
    package mutating func redate(to now: Timestamp) {
      for (name, value) in values {
        guard let expiry = value.expiry else { continue }
        values[name]?.expiry?.time = min(expiry.time, now + expiry.lifetime)
      }
    }

    /// Replaces the changed values.
    package mutating func put(_ changed: ChangedValues) {
      for (name, value) in changed.values { values[name] = value }
      totals = changed.totals
    }
  }
#endif
