#if !hasFeature(Embedded)
  /// The name of a value in a room: 1 to ``bytesMax`` bytes, compared byte by byte.
  public struct ValueName: ByteName {
    /// The name as received.
    public var text: String

    /// Creates a name without checking the text.
    @inlinable
    public init(_ text: String) { self.text = text }

    /// Maximum bytes of a name.
    public static let bytesMax = 200

    /// Whether the name has an allowed length.
    public var isValid: Bool { (1...Self.bytesMax).contains(text.utf8.count) }
  }
#endif
