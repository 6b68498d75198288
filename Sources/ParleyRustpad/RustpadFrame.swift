public import OTCore
public import ParleyJSON

/// The messages of a Rustpad server.
public enum RustpadFrame {
  /// Returns the first message: the number of the connection.
  public static func identity(_ number: Int) -> [UInt8] {
    JSONWriter.object { object, bytes in object.field("Identity", number, &bytes) }
  }

  /// An operation of the history, and the number of its author's connection. A client takes an
  /// operation under its own number as the acknowledgement of its own.
  public struct Entry: Sendable {
    /// The number; 0 for authors without one.
    public let number: Int
    /// The operation.
    public let operation: TextOperation

    /// Creates an entry.
    public init(number: Int, operation: TextOperation) {
      self.number = number
      self.operation = operation
    }
  }

  /// Returns operations of the history.
  ///
  /// - Parameter start: The revision to which the first one applies.
  public static func history(_ entries: [Entry], from start: Int) -> [UInt8] {
    JSONWriter.object { object, bytes in
      object.key("History", &bytes)
      JSONWriter.object(&bytes) { object, bytes in
        object.field("start", start, &bytes)
        object.key("operations", &bytes)
        JSONWriter.array(entries, &bytes) { entry, bytes in
          JSONWriter.object(&bytes) { object, bytes in
            object.field("id", entry.number, &bytes)
            object.key("operation", &bytes)
            entry.operation.appendJSON(to: &bytes)
          }
        }
      }
    }
  }

  /// Returns the language of the text.
  public static func language(_ language: String) -> [UInt8] {
    JSONWriter.object { object, bytes in object.field("Language", language, &bytes) }
  }

  /// Returns a user's name and hue; without them, the user has left.
  public static func user(_ number: Int, _ user: RustpadUser?) -> [UInt8] {
    JSONWriter.object { object, bytes in
      object.key("UserInfo", &bytes)
      JSONWriter.object(&bytes) { object, bytes in
        object.field("id", number, &bytes)
        object.key("info", &bytes)
        guard let user else { return JSONWriter.raw("null", &bytes) }
        JSONWriter.object(&bytes) { object, bytes in
          object.field("name", user.name, &bytes)
          object.field("hue", user.hue, &bytes)
        }
      }
    }
  }

  /// Returns a user's cursors and selections, as the user's client sent them.
  public static func cursors(_ number: Int, _ cursors: JSONValue) -> [UInt8] {
    JSONWriter.object { object, bytes in
      object.key("UserCursor", &bytes)
      JSONWriter.object(&bytes) { object, bytes in
        object.field("id", number, &bytes)
        object.field("data", cursors, &bytes)
      }
    }
  }
}
