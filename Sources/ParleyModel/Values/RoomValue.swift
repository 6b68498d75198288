#if !hasFeature(Embedded)
  public import ParleyJSON

  /// A value of a room, as its newest change has left it.
  public struct RoomValue: Sendable, Hashable {
    /// The value, as canonical JSON.
    public var value: JSONValue
    /// The offset of the publication that changed it last.
    public var offset: Int
    /// The time at which it expires, and the milliseconds for which it exists; `nil` without limit.
    public var expiry: Expiry?
    /// The client id to whose connections it is bound; `nil` if to none.
    public var holder: String?

    /// The end of a value's lifetime.
    public struct Expiry: Sendable, Hashable {
      /// The time from which the value may be deleted.
      public var time: Timestamp
      /// Milliseconds from the last change to that time.
      public var lifetime: Timestamp

      /// Creates the end of a lifetime.
      public init(time: Timestamp, lifetime: Timestamp) {
        self.time = time
        self.lifetime = lifetime
      }
    }

    /// Creates a value, by default without a limited lifetime.
    public init(value: JSONValue, offset: Int, expiry: Expiry? = nil, holder: String? = nil) {
      self.value = value
      self.offset = offset
      self.expiry = expiry
      self.holder = holder
    }
  }

  /// The number and the size of a room's values.
  public struct ValueTotals: Sendable, Hashable {
    /// The number of names.
    public var names: Int
    /// The bytes of all names and values.
    public var bytes: Int

    /// Creates totals, by default of a room without values.
    public init(names: Int = 0, bytes: Int = 0) {
      self.names = names
      self.bytes = bytes
    }

    /// Replaces one value of the room by another.
    mutating func replace(_ name: ValueName, _ former: JSONValue?, by value: JSONValue?) {
      if let former {
        names -= 1
        bytes -= name.text.utf8.count + former.utf8.count
      }
      if let value {
        names += 1
        bytes += name.text.utf8.count + value.utf8.count
      }
    }
  }

  /// The limits of a room's values.
  public struct ValueLimits: Sendable, Hashable {
    /// Maximum bytes of one value, as canonical JSON.
    public var valueBytesMax = 16 << 10
    /// Maximum names in one room.
    public var namesMax = 10_000
    /// Maximum bytes of all names and values in one room.
    public var bytesMax = 4 << 20

    /// Maximum operations of one change, and maximum names in its conditions.
    public static let operationsMax = 256

    /// Creates the default limits.
    public init() {}
  }
#endif
