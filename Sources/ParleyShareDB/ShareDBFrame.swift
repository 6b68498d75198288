public import OTCore
import ParleyJSON

/// A document as a client is sent it.
public struct ShareDBSnapshot: Sendable, Hashable {
  /// The version.
  public let version: Int
  /// The text; `nil` if the document does not exist.
  public let text: String?

  /// Creates a snapshot.
  public init(version: Int, text: String?) {
    self.version = version
    self.text = text
  }

  /// A document that does not exist.
  public static let missing = ShareDBSnapshot(version: 0, text: nil)
}

/// The result for one document of a bulk request.
public struct ShareDBResult: Sendable {
  /// The document's id.
  public let id: String
  /// The snapshot; `nil` if it was refused.
  public let snapshot: ShareDBSnapshot?
  /// The reason of a refusal.
  public let error: ShareDBError?

  /// Creates a result.
  public init(id: String, snapshot: ShareDBSnapshot?, error: ShareDBError? = nil) {
    self.id = id
    self.snapshot = snapshot
    self.error = error
  }
}

/// The messages of a ShareDB server.
public enum ShareDBFrame {
  private static let major = 1
  private static let minor = 2

  // MARK: Connections

  /// Returns the first message of a connection.
  public static func initial(id: String) -> [UInt8] { greeting("init", id: id) }

  /// Returns the answer to a handshake. The id is that of the first message, or the client's former
  /// one, and the same in all answers of a connection.
  public static func handshake(id: String) -> [UInt8] { greeting("hs", id: id) }

  private static func greeting(_ action: String, id: String) -> [UInt8] {
    JSONWriter.object { object, bytes in
      object.field("a", action, &bytes)
      object.field("protocol", major, &bytes)
      object.field("protocolMinor", minor, &bytes)
      object.field("id", id, &bytes)
      object.field("type", ShareDBType.standard, &bytes)
    }
  }

  /// The answer to a ping.
  public static let pong = Array(#"{"a":"pp"}"#.utf8)

  // MARK: Answers

  /// Returns the answer to a request about one document.
  public static func answer(
    _ action: ShareDBRequest.Action, of document: ShareDBDocument, snapshot: ShareDBSnapshot? = nil
  ) -> [UInt8] {
    JSONWriter.object { object, bytes in
      begin(action, document, &object, &bytes)
      guard let snapshot else { return }
      object.key("data", &bytes)
      write(snapshot, &bytes)
    }
  }

  /// Returns the answer to a request about several documents.
  ///
  /// - Parameter results: The documents; `nil` if the client has versions of them.
  public static func answer(
    _ action: ShareDBRequest.Action, of collection: String,
    versions: [ShareDBRequest.Version], results: [ShareDBResult]?
  ) -> [UInt8] {
    JSONWriter.object { object, bytes in
      object.field("a", action.rawValue, &bytes)
      object.field("c", collection, &bytes)
      guard let results else {
        object.key("b", &bytes)
        JSONWriter.array(versions, &bytes) { JSONWriter.string($0.id, &$1) }
        return
      }
      object.key("data", &bytes)
      JSONWriter.object(&bytes) { object, bytes in
        for result in results {
          object.key(named: result.id, &bytes)
          if let snapshot = result.snapshot {
            write(snapshot, &bytes)
          } else {
            JSONWriter.object(&bytes) { object, bytes in write(result.error, &object, &bytes) }
          }
        }
      }
    }
  }

  private static func write(_ snapshot: ShareDBSnapshot, _ bytes: inout [UInt8]) {
    JSONWriter.object(&bytes) { object, bytes in
      object.field("v", snapshot.version, &bytes)
      if let text = snapshot.text {
        object.field("data", text, &bytes)
        object.field("type", ShareDBType.text, &bytes)
      } else {
        object.key("type", &bytes)
        JSONWriter.raw("null", &bytes)
      }
    }
  }

  private static func begin(
    _ action: ShareDBRequest.Action, _ document: ShareDBDocument, _ object: inout JSONWriter.Object,
    _ bytes: inout [UInt8]
  ) {
    object.field("a", action.rawValue, &bytes)
    object.field("c", document.collection, &bytes)
    object.field("d", document.id, &bytes)
  }

  // MARK: Changes

  /// A change of the log.
  public enum Content: Sendable {
    /// An operation. Its last retain is not sent.
    case operation(TextOperation)
    /// The first change of a document, which creates its text.
    case creation(text: String)
    /// No content: the change is the receiver's own, which it has applied.
    case acknowledgement
  }

  /// Returns a change.
  ///
  /// - Parameters:
  ///   - version: The version to which the change applies.
  ///   - source: The id of its author's connection.
  ///   - sequence: The number of the change among all changes of the source.
  public static func change(
    _ content: Content, of document: ShareDBDocument, version: Int, source: String, sequence: Int
  ) -> [UInt8] {
    JSONWriter.object { object, bytes in
      begin(.operation, document, &object, &bytes)
      object.field("v", version, &bytes)
      object.field("src", source, &bytes)
      object.field("seq", sequence, &bytes)
      switch content {
      case .operation(let operation):
        object.key("op", &bytes)
        append(operation, to: &bytes)
      case .creation(let text):
        object.key("create", &bytes)
        JSONWriter.object(&bytes) { object, bytes in
          object.field("type", ShareDBType.text, &bytes)
          object.field("data", text, &bytes)
        }
      case .acknowledgement: break
      }
    }
  }

  /// Appends an operation of the type `text-unicode`, without the last retain.
  public static func append(_ operation: TextOperation, to bytes: inout [UInt8]) {
    let count = operation.componentCount
    var index = 0
    bytes.append(UInt8(ascii: "["))
    operation.forEachPacked { kind, length, text in
      index += 1
      if kind == .retain, index == count { return }
      if index > 1 { bytes.append(UInt8(ascii: ",")) }
      switch kind {
      case .retain: JSONWriter.integer(length, &bytes)
      case .insert: JSONWriter.string(text, &bytes)
      case .delete: JSONWriter.object(&bytes) { object, bytes in object.field("d", length, &bytes) }
      }
    }
    bytes.append(UInt8(ascii: "]"))
  }

  // MARK: Presence

  /// Returns the answer to a subscription to presence, or to its end.
  public static func answer(
    _ action: ShareDBRequest.Action, ofPresenceIn channel: String, sequence: Int?
  ) -> [UInt8] {
    JSONWriter.object { object, bytes in
      object.field("a", action.rawValue, &bytes)
      object.field("ch", channel, &bytes)
      if let sequence { object.field("seq", sequence, &bytes) }
    }
  }

  /// Returns a presence.
  ///
  /// - Parameter source: The id of the client's connection.
  public static func presence(_ presence: ShareDBPresence, source: String) -> [UInt8] {
    JSONWriter.object { object, bytes in
      object.field("a", "p", &bytes)
      object.field("ch", presence.channel, &bytes)
      object.field("src", source, &bytes)
      object.field("id", presence.id, &bytes)
      object.key("p", &bytes)
      bytes += presence.value ?? Array("null".utf8)
      object.field("pv", presence.number, &bytes)
    }
  }

  // MARK: Errors

  /// Returns an error about a document, in answer to a request.
  ///
  /// - Parameter change: The refused change; the client discards it.
  public static func error(
    _ error: ShareDBError, _ action: ShareDBRequest.Action, of document: ShareDBDocument,
    change: Int? = nil
  ) -> [UInt8] {
    JSONWriter.object { object, bytes in
      begin(action, document, &object, &bytes)
      if let change { object.field("seq", change, &bytes) }
      write(error, &object, &bytes)
    }
  }

  /// Returns an error in answer to a request that is about no document.
  ///
  /// - Parameter number: The number of the request.
  public static func error(
    _ error: ShareDBError, _ action: String?, number: Int? = nil, channel: String? = nil
  ) -> [UInt8] {
    JSONWriter.object { object, bytes in
      if let action { object.field("a", action, &bytes) }
      if let number { object.field("id", number, &bytes) }
      if let channel { object.field("ch", channel, &bytes) }
      write(error, &object, &bytes)
    }
  }

  private static func write(
    _ error: ShareDBError?, _ object: inout JSONWriter.Object, _ bytes: inout [UInt8]
  ) {
    guard let error else { return }
    object.key("error", &bytes)
    JSONWriter.object(&bytes) { object, bytes in
      object.field("code", error.code.rawValue, &bytes)
      object.field("message", error.message, &bytes)
    }
  }
}
