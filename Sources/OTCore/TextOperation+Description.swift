// Embedded Swift has no `Mirror`, and its programs print no values.
#if !hasFeature(Embedded)

  extension TextOperation: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
  {
    /// The components without their texts, which must not be logged: "retain 3, insert 5 bytes,
    /// delete 2". Only the first components are listed.
    public var description: String {
      var parts: [String] = []
      var left = Self.describedMax
      forEachPacked { kind, length, text in
        left -= 1
        guard left >= 0 else { return }
        switch kind {
        case .retain: parts.append("retain \(length)")
        case .delete: parts.append("delete \(length)")
        case .insert: parts.append("insert \(text.count) bytes")
        }
      }
      if left < 0 { parts.append("and \(-left) more") }
      return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
    }

    /// The same text as ``description``.
    public var debugDescription: String { description }

    /// A mirror without children, because they would contain the texts.
    public var customMirror: Mirror { Mirror(self, children: []) }

    private static let describedMax = 8
  }

#endif
