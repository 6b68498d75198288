// Embedded Swift has no `Codable`.
#if !hasFeature(Embedded)

  /// Coded as the JSON form: a list of numbers and strings, `[1,"tag",-2]`.
  extension TextOperation: Codable {
    /// Writes the components in order; an operation without components as a retain of 0.
    public func encode(to encoder: any Encoder) throws {
      var list = encoder.unkeyedContainer()
      for component in components {
        switch component {
        case .retain(let count): try list.encode(count)
        case .delete(let count): try list.encode(-count)
        case .insert(let text): try list.encode(text)
        }
      }
      if componentCount == 0 { try list.encode(0) }
    }

    /// Reads components.
    ///
    /// - Throws: `DecodingError` if a component is neither an integer nor a string, or the
    ///   operation would exceed ``lengthMax``.
    public init(from decoder: any Decoder) throws {
      self.init()
      var list = try decoder.unkeyedContainer()
      while !list.isAtEnd {
        if let count = try? list.decode(Int.self) {
          let longest = max(baseLength, count > 0 ? targetLength : 0)
          guard count.magnitude <= UInt(Self.lengthMax - longest) else { throw Self.tooLong(list) }
          if count < 0 { delete(-count) } else { retain(count) }
        } else {
          let text = try list.decode(String.self)
          do throws(OperationError) {
            try insert(utf8: text)
          } catch {
            throw Self.tooLong(list)
          }
        }
      }
      pack()
    }

    private static func tooLong(_ list: any UnkeyedDecodingContainer) -> DecodingError {
      DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: list.codingPath,
          debugDescription: "an operation spans at most \(lengthMax) Unicode scalars"))
    }
  }

#endif
