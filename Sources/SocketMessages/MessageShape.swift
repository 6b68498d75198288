import ParleyJSON
import OTCore
import ParleyModel

// The names and shapes of messages as data, for tests, for other languages' types and for fuzzers.

/// The shape of a value in JSON.
package indirect enum MessageShape: Sendable, Hashable {
  case text
  case integer
  /// A time in milliseconds since 1970, which needs more than 32 bits.
  case milliseconds
  case flag
  /// Any JSON.
  case any
  /// `[1,"tag",-2]`
  case operation
  /// `[3,1044,8640000,17,14,[1,"tag",-2]]`, see ``ServerMessage/NumberedChanges/Run``.
  case run
  /// Two integers.
  case pair
  case word([String])
  case list(MessageShape)
  /// An object, named by its Swift type, such as `ServerMessage.Participant`.
  case object(String, [Field])

  /// A field of an object.
  package struct Field: Sendable, Hashable {
    /// Whether the field must be in the object.
    package enum Presence: Sendable, Hashable {
      case required
      /// The field may be missing; readers treat `null` as missing.
      case optional
      /// The field is always written, possibly as `null`; readers accept it missing.
      case nullable
    }

    package var name: String
    package var shape: MessageShape
    package var presence: Presence

    package init(name: String, shape: MessageShape, presence: Presence) {
      self.name = name
      self.shape = shape
      self.presence = presence
    }
  }
}

#if !hasFeature(Embedded)
  extension MessageFields {
    mutating func list(
      _ name: StaticString, _ shape: MessageShape, _ presence: MessageShape.Field.Presence
    ) {
      listed.append(MessageShape.Field(name: "\(name)", shape: shape, presence: presence))
    }

    /// The fields of an object in the order of writing.
    static func fields(of object: some MessageObject) -> [MessageShape.Field] {
      var fields = MessageFields(.listing)
      fields.show(object)
      return fields.listed
    }
  }

  extension MessageObject {
    static var shape: MessageShape {
      let name = String(reflecting: Self.self).split(separator: ".").dropFirst()
      return .object(name.joined(separator: "."), MessageFields.fields(of: Self.blank))
    }
  }

  extension MessageWord {
    static var shape: MessageShape { .word(allCases.map(\.rawValue)) }
  }

  extension String { static var shape: MessageShape { .text } }
  extension PersonID { static var shape: MessageShape { .text } }
  extension Int { static var shape: MessageShape { .integer } }
  extension Int64 { static var shape: MessageShape { .milliseconds } }
  extension Bool { static var shape: MessageShape { .flag } }
  extension JSONValue { static var shape: MessageShape { .any } }
  extension Array where Element: MessageForm {
    static var shape: MessageShape { .list(Element.shape) }
  }
  extension ClosedRange<Int> { static var shape: MessageShape { .pair } }
  extension Selection { static var shape: MessageShape { .pair } }
  extension TextOperation { static var shape: MessageShape { .operation } }
  extension FormatJSON {
    static var shape: MessageShape {
      func field(_ name: String, _ shape: MessageShape) -> MessageShape.Field {
        MessageShape.Field(name: name, shape: shape, presence: .optional)
      }
      return .object(
        "Format",
        [
          field("kind", .word([NoteKind.rich.rawValue])), field("sets", .list(.any)),
          field("kept", .list(.integer)), field("put", .list(.integer)),
          field("runs", .list(.integer)),
        ])
    }
  }
  extension ServerMessage.NumberedChanges.Run { static var shape: MessageShape { .run } }

  /// Finds the shape of a message type by decoding a blank message of it.
  private struct ShapeFinder: MessageSource {
    var shape: MessageShape?

    mutating func read<Object: MessageObject>() -> Object {
      shape = Object.shape
      return Object.blank
    }
  }

  extension ClientMessage.Kind {
    /// The shape of the message's data; `nil` if this type is not decoded.
    package var shape: MessageShape? {
      var finder = ShapeFinder()
      let message = withType(rawValue) { try? ClientMessage.decode($0, from: &finder) }
      return finder.shape ?? (message?.kind == self ? .object("Nothing", []) : nil)
    }
  }

  extension ServerMessage.Kind {
    /// The shape of the message's data; `nil` if this type is not decoded.
    package var shape: MessageShape? {
      var finder = ShapeFinder()
      _ = withType(rawValue) { try? ServerMessage.decode($0, from: &finder) }
      return finder.shape
    }
  }

  private func withType<Result>(_ type: String, _ body: (JSONText) -> Result?) -> Result? {
    Array("\"\(type)\"".utf8).withUnsafeBufferPointer { bytes in
      var reader = JSONReader(bytes)
      guard let text = try? reader.text() else { return nil }
      return body(text)
    }
  }
#else
  // A browser's program contains no shapes.
  extension MessageFields {
    @inline(__always)
    mutating func list(
      _ name: StaticString, _ shape: MessageShape, _ presence: MessageShape.Field.Presence
    ) {}
  }

  extension MessageForm {
    @inline(__always)
    static var shape: MessageShape { .any }
  }
#endif
