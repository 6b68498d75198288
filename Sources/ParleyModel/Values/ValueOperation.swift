#if !hasFeature(Embedded)
  public import ParleyJSON

  /// An operation on one value of a room.
  public struct ValueOperation: Sendable, Hashable {
    /// The effect on the value.
    public enum Effect: Sendable, Hashable {
      /// Replaces the value.
      case set(JSONValue)
      /// Merges an object into the value (JSON Merge Patch, RFC 7396): fields merge, `null` removes a
      /// field. A value that is not an object is replaced by an object.
      case merge(JSONValue)
      /// Adds an integer of at most ``numberMax``. A missing value counts as 0.
      case add(Int)
      /// Removes the value, if there is one.
      case delete
    }

    /// The time for which a value exists, unless a later operation changes it.
    public enum Lifetime: Sendable, Hashable {
      /// Until it is deleted.
      case unlimited
      /// For a number of seconds, from 1 to ``secondsMax``.
      case seconds(Int)
      /// Until the last connection of the client that published the operation has ended.
      case connection
    }

    /// The value's name.
    public var name: ValueName
    /// The effect.
    public var effect: Effect
    /// The lifetime that the value has from then on.
    public var lifetime: Lifetime

    /// Creates an operation, by default for a value that exists until it is deleted.
    public init(_ name: ValueName, _ effect: Effect, lifetime: Lifetime = .unlimited) {
      self.name = name
      self.effect = effect
      self.lifetime = lifetime
    }

    /// The largest magnitude of an integer that an operation adds, or that results: 2^53, up to which
    /// a double represents every integer.
    public static let numberMax = 1 << 53

    /// Maximum seconds of a lifetime: 31 days.
    public static let secondsMax = 31 * 86_400
  }
#endif
