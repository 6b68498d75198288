#if !hasFeature(Embedded)
  import ParleyJSON

  /// A client's copy of a room's values, from pages and from the operations of publications.
  ///
  /// Each page has its own position. An operation counts for a name if its offset exceeds the position
  /// of the page that covers the name; a name that no page covers yet comes with a later page. The
  /// copy is complete when the last page has arrived.
  ///
  ///     page 1 at 7: names through "m"      9: {"add":"b","by":1}   counts, for 9 > 7
  ///     page 2 at 9: the other names        9: {"add":"z","by":1}   is in page 2 already
  package struct ValueMirror: Sendable, Equatable {
    private struct Range: Sendable, Equatable {
      /// The last name that the page covers; `nil` if it covers all further names.
      let through: ValueName?
      let offset: Int
    }

    /// The values by name.
    package private(set) var values: [ValueName: RoomValue] = [:]
    /// The position of the newest publication that the copy contains.
    package private(set) var position: RoomPosition
    private var ranges: [Range] = []

    /// Creates a copy without values, which begins with its first page.
    package init(at position: RoomPosition) { self.position = position }

    /// Whether the last page has arrived.
    package private(set) var isComplete = false

    /// The name after which the next page begins; `nil` if the last page has arrived.
    package var nextAfter: ValueName? { ranges.last?.through }

    /// Adds the next page, in the order of the names.
    ///
    /// - Returns: Whether the page belongs to this history, and was read at the copy's position or
    ///   later; otherwise all pages have to be read again.
    package mutating func add(
      _ page: [(name: ValueName, value: RoomValue)], at place: RoomPosition, hasMore: Bool
    ) -> Bool {
      guard place.epoch == position.epoch, place.offset >= position.offset else { return false }
      for (name, value) in page { values[name] = value }
      // A page with more after it has at least one value.
      ranges.append(Range(through: hasMore ? page.last?.name : nil, offset: place.offset))
      isComplete = ranges.last?.through == nil
      settle()
      return true
    }

    /// Applies the operations of a publication.
    ///
    /// - Returns: The changed names; `nil` if the operations do not fit the copy, which has to be
    ///   read again.
    package mutating func apply(
      _ operations: [ValueOperation], offset: Int, time: Timestamp = 0
    ) -> Set<ValueName>? {
      defer { settle() }
      guard offset > position.offset else { return [] }
      position.offset = offset
      let wanted = operations.filter { counts($0.name, offset) }
      guard !wanted.isEmpty else { return [] }
      var current: [ValueName: RoomValue] = [:]
      for operation in wanted { current[operation.name] = values[operation.name] }
      do throws(ValueRefusal) {
        let changed = try ValueChange(wanted).applied(
          to: current, ValueTotals(), at: ValueOrigin(offset: offset, time: time),
          limits: .unlimited)
        for (name, value) in changed.values { values[name] = value }
        return Set(changed.values.keys)
      } catch {
        return nil
      }
    }

    /// Advances to a position up to which all publications have arrived.
    package mutating func advance(to offset: Int) {
      position.offset = max(position.offset, offset)
      settle()
    }

    /// Whether an operation at an offset is not contained in the page that covers its name.
    package func counts(_ name: ValueName, _ offset: Int) -> Bool {
      guard !ranges.isEmpty else { return isComplete }
      for range in ranges {
        if let through = range.through, through < name { continue }
        return offset > range.offset
      }
      return false
    }

    /// Forgets the pages' positions once none of them matters.
    private mutating func settle() {
      guard isComplete, ranges.allSatisfy({ $0.offset <= position.offset }) else { return }
      ranges = []
    }
  }

  extension ValueLimits {
    /// Limits that every accepted change meets.
    package static var unlimited: ValueLimits {
      var limits = ValueLimits()
      (limits.valueBytesMax, limits.namesMax, limits.bytesMax) = (.max, .max, .max)
      return limits
    }
  }
#endif
