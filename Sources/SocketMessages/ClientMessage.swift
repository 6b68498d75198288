public import OTCore

/// A place in a document's history to continue from.
public struct ResumePoint: Sendable, Equatable {
  /// Names the history.
  public var epoch: String
  /// The newest revision known.
  public var revision: Int

  /// Makes a resume point.
  public init(epoch: String, revision: Int) {
    self.epoch = epoch
    self.revision = revision
  }
}

/// What a `parley.v1` client sends.
public enum ClientMessage: Sendable, Equatable {
  /// The first message of a connection.
  public struct Hello: Sendable, Equatable {
    /// A client id from an earlier connection, with the token that proves it.
    public struct Claim: Sendable, Equatable {
      /// The client's id.
      public var id: String
      /// What `welcome` gave with it.
      public var resumeToken: String

      /// Makes a claim.
      public init(id: String, resumeToken: String) {
        self.id = id
        self.resumeToken = resumeToken
      }
    }

    /// The person's name as shown to others.
    public var name: String
    /// The person's colour, `#rrggbb`.
    public var color: String?
    /// Who the client was before.
    public var client: Claim?
    /// A token that grants rights.
    public var token: String?

    /// Makes a hello.
    public init(
      name: String, color: String? = nil, client: Claim? = nil, token: String? = nil
    ) {
      self.name = name
      self.color = color
      self.client = client
      self.token = token
    }
  }

  /// Follow a document.
  public struct Join: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// Where to continue; without it the text is sent.
    public var resume: ResumePoint?

    /// Makes a join.
    public init(documentID: String, resume: ResumePoint? = nil) {
      self.documentID = documentID
      self.resume = resume
    }
  }

  /// Change a document.
  public struct Change: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// The history that `revision` counts.
    public var epoch: String
    /// The revision that the operation applies to.
    public var revision: Int
    /// The client's number for the change, from 1, for each document.
    public var sequence: Int
    /// The operation.
    public var operation: TextOperation

    /// Makes a change.
    public init(
      documentID: String, epoch: String, revision: Int, sequence: Int, operation: TextOperation
    ) {
      self.documentID = documentID
      self.epoch = epoch
      self.revision = revision
      self.sequence = sequence
      self.operation = operation
    }
  }

  /// Say where the carets are.
  public struct Select: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// The revision whose text the selections are on, without own unconfirmed changes.
    public var revision: Int
    /// In Unicode scalars.
    public var selections: [Selection]

    /// Makes a selection message.
    public init(documentID: String, revision: Int, selections: [Selection]) {
      self.documentID = documentID
      self.revision = revision
      self.selections = selections
    }
  }

  /// Follow a document no longer.
  public struct Leave: Sendable, Equatable {
    /// The document.
    public var documentID: String

    /// Makes a leave.
    public init(documentID: String) { self.documentID = documentID }
  }

  /// Change name and colour.
  public struct Profile: Sendable, Equatable {
    /// The person's name as shown to others.
    public var name: String
    /// The person's colour, `#rrggbb`.
    public var color: String?

    /// Makes a profile.
    public init(name: String, color: String? = nil) {
      self.name = name
      self.color = color
    }
  }

  /// A room to hear from, or to hear from no longer.
  public struct Subscribe: Sendable, Equatable {
    /// An opaque name.
    public var room: String

    /// Makes a subscription.
    public init(room: String) { self.room = room }
  }

  case hello(Hello)
  case join(Join)
  case change(Change)
  case select(Select)
  case leave(Leave)
  case profile(Profile)
  case subscribe(Subscribe)
  case unsubscribe(Subscribe)
  case ping
  /// A type that this version does not know.
  case unknown(type: String)

  // MARK: Reading

  /// Reads a message from the bytes of a text frame.
  ///
  /// - Throws: `MessageError` for anything that is no message, naming field and place.
  public static func decode(
    _ message: UnsafeRawBufferPointer
  ) throws(MessageError) -> (messageID: String, message: ClientMessage) {
    let bytes = message.assumingMemoryBound(to: UInt8.self)
    let envelope = try Envelope(bytes)
    guard let type = envelope.type else {
      throw envelope.named(.missing("type", in: "envelope"))
    }
    guard let messageID = envelope.messageID else {
      throw envelope.named(.missing("messageId", in: "envelope"))
    }
    return (messageID, try decode(type, envelope, bytes))
  }

  private static func decode(
    _ type: String, _ envelope: Envelope, _ bytes: UnsafeBufferPointer<UInt8>
  ) throws(MessageError) -> ClientMessage {
    switch type {
    case "change": .change(try Change(envelope, bytes))
    case "select": .select(try Select(envelope, bytes))
    case "hello": .hello(try Hello(envelope, bytes))
    case "join": .join(try Join(envelope, bytes))
    case "leave": .leave(try Leave(envelope, bytes))
    case "profile": .profile(try Profile(envelope, bytes))
    case "subscribe": .subscribe(try Subscribe(type, envelope, bytes))
    case "unsubscribe": .unsubscribe(try Subscribe(type, envelope, bytes))
    case "ping": .ping
    default: .unknown(type: type)
    }
  }

  // MARK: Writing

  /// Appends the message as JSON.
  public func encode(messageID: String, into buffer: inout [UInt8]) {
    switch self {
    case .hello(let hello): hello.encode(messageID, &buffer)
    case .join(let join): join.encode(messageID, &buffer)
    case .change(let change): change.encode(messageID, &buffer)
    case .select(let select): select.encode(messageID, &buffer)
    case .leave(let leave):
      Envelope.write(messageID: messageID, type: "leave", into: &buffer) { data, buffer in
        data.field("documentId", leave.documentID, &buffer)
      }
    case .profile(let profile):
      Envelope.write(messageID: messageID, type: "profile", into: &buffer) { data, buffer in
        data.field("name", profile.name, &buffer)
        data.field("color", profile.color, &buffer)
      }
    case .subscribe(let subscribe):
      Envelope.write(messageID: messageID, type: "subscribe", into: &buffer) { data, buffer in
        data.field("room", subscribe.room, &buffer)
      }
    case .unsubscribe(let subscribe):
      Envelope.write(messageID: messageID, type: "unsubscribe", into: &buffer) { data, buffer in
        data.field("room", subscribe.room, &buffer)
      }
    case .ping:
      Envelope.write(messageID: messageID, type: "ping", into: &buffer) { _, _ in }
    case .unknown: break
    }
  }
}

extension ClientMessage.Hello {
  fileprivate init(
    _ envelope: Envelope, _ bytes: UnsafeBufferPointer<UInt8>
  ) throws(MessageError) {
    var name: String?
    var color: String?
    var token: String?
    var id: String?
    var resumeToken: String?
    self = try envelope.read(bytes, as: "hello") { key, reader throws(JSONError) in
      switch key {
      case "name": name = try reader.string()
      case "color": color = try reader.optionalString()
      case "token": token = try reader.optionalString()
      case "client":
        if try reader.isNull() { return }
        try reader.object { key, reader throws(JSONError) in
          switch key {
          case "id": id = try reader.string()
          case "resumeToken": resumeToken = try reader.string()
          default: try reader.skipValue()
          }
        }
      default: try reader.skipValue()
      }
    } make: { () throws(MessageError) in
      guard let name else { throw .missing("name", in: "hello") }
      guard (id == nil) == (resumeToken == nil) else {
        throw .missing("client.id or client.resumeToken", in: "hello")
      }
      var claim: Claim?
      if let id, let resumeToken { claim = Claim(id: id, resumeToken: resumeToken) }
      return Self(name: name, color: color, client: claim, token: token)
    }
  }

  fileprivate func encode(_ messageID: String, _ buffer: inout [UInt8]) {
    Envelope.write(messageID: messageID, type: "hello", into: &buffer) { data, buffer in
      data.field("name", name, &buffer)
      data.field("color", color, &buffer)
      if let client {
        data.key("client", &buffer)
        JSONWriter.object(&buffer) { object, buffer in
          object.field("id", client.id, &buffer)
          object.field("resumeToken", client.resumeToken, &buffer)
        }
      }
      data.field("token", token, &buffer)
    }
  }
}

extension ClientMessage.Join {
  fileprivate init(
    _ envelope: Envelope, _ bytes: UnsafeBufferPointer<UInt8>
  ) throws(MessageError) {
    var documentID: String?
    var epoch: String?
    var revision: Int?
    self = try envelope.read(bytes, as: "join") { key, reader throws(JSONError) in
      switch key {
      case "documentId": documentID = try reader.string()
      case "resume":
        if try reader.isNull() { return }
        try reader.object { key, reader throws(JSONError) in
          switch key {
          case "epoch": epoch = try reader.string()
          case "revision": revision = try reader.integer()
          default: try reader.skipValue()
          }
        }
      default: try reader.skipValue()
      }
    } make: { () throws(MessageError) in
      guard let documentID else { throw .missing("documentId", in: "join") }
      guard (epoch == nil) == (revision == nil) else {
        throw .missing("resume.epoch or resume.revision", in: "join")
      }
      var resume: ResumePoint?
      if let epoch, let revision { resume = ResumePoint(epoch: epoch, revision: revision) }
      return Self(documentID: documentID, resume: resume)
    }
  }

  fileprivate func encode(_ messageID: String, _ buffer: inout [UInt8]) {
    Envelope.write(messageID: messageID, type: "join", into: &buffer) { data, buffer in
      data.field("documentId", documentID, &buffer)
      if let resume {
        data.key("resume", &buffer)
        JSONWriter.object(&buffer) { object, buffer in
          object.field("epoch", resume.epoch, &buffer)
          object.field("revision", resume.revision, &buffer)
        }
      }
    }
  }
}

extension ClientMessage.Change {
  fileprivate init(
    _ envelope: Envelope, _ bytes: UnsafeBufferPointer<UInt8>
  ) throws(MessageError) {
    var documentID: String?
    var epoch: String?
    var revision: Int?
    var sequence: Int?
    var operation: TextOperation?
    self = try envelope.read(bytes, as: "change") { key, reader throws(JSONError) in
      switch key {
      case "documentId": documentID = try reader.string()
      case "epoch": epoch = try reader.string()
      case "revision": revision = try reader.integer()
      case "sequence": sequence = try reader.integer()
      case "operation": operation = try reader.operation()
      default: try reader.skipValue()
      }
    } make: { () throws(MessageError) in
      guard let documentID else { throw .missing("documentId", in: "change") }
      guard let epoch else { throw .missing("epoch", in: "change") }
      guard let revision else { throw .missing("revision", in: "change") }
      guard let sequence else { throw .missing("sequence", in: "change") }
      guard let operation else { throw .missing("operation", in: "change") }
      return Self(
        documentID: documentID, epoch: epoch, revision: revision, sequence: sequence,
        operation: operation)
    }
  }

  fileprivate func encode(_ messageID: String, _ buffer: inout [UInt8]) {
    Envelope.write(messageID: messageID, type: "change", into: &buffer) { data, buffer in
      data.field("documentId", documentID, &buffer)
      data.field("epoch", epoch, &buffer)
      data.field("revision", revision, &buffer)
      data.field("sequence", sequence, &buffer)
      data.key("operation", &buffer)
      operation.appendJSON(to: &buffer)
    }
  }
}

extension ClientMessage.Select {
  fileprivate init(
    _ envelope: Envelope, _ bytes: UnsafeBufferPointer<UInt8>
  ) throws(MessageError) {
    var documentID: String?
    var revision: Int?
    var selections: [Selection]?
    self = try envelope.read(bytes, as: "select") { key, reader throws(JSONError) in
      switch key {
      case "documentId": documentID = try reader.string()
      case "revision": revision = try reader.integer()
      case "selections": selections = try reader.selections()
      default: try reader.skipValue()
      }
    } make: { () throws(MessageError) in
      guard let documentID else { throw .missing("documentId", in: "select") }
      guard let revision else { throw .missing("revision", in: "select") }
      guard let selections else { throw .missing("selections", in: "select") }
      return Self(documentID: documentID, revision: revision, selections: selections)
    }
  }

  fileprivate func encode(_ messageID: String, _ buffer: inout [UInt8]) {
    Envelope.write(messageID: messageID, type: "select", into: &buffer) { data, buffer in
      data.field("documentId", documentID, &buffer)
      data.field("revision", revision, &buffer)
      data.key("selections", &buffer)
      JSONWriter.selections(selections, &buffer)
    }
  }
}

extension ClientMessage.Leave {
  fileprivate init(
    _ envelope: Envelope, _ bytes: UnsafeBufferPointer<UInt8>
  ) throws(MessageError) {
    var documentID: String?
    self = try envelope.read(bytes, as: "leave") { key, reader throws(JSONError) in
      switch key {
      case "documentId": documentID = try reader.string()
      default: try reader.skipValue()
      }
    } make: { () throws(MessageError) in
      guard let documentID else { throw .missing("documentId", in: "leave") }
      return Self(documentID: documentID)
    }
  }
}

extension ClientMessage.Profile {
  fileprivate init(
    _ envelope: Envelope, _ bytes: UnsafeBufferPointer<UInt8>
  ) throws(MessageError) {
    var name: String?
    var color: String?
    self = try envelope.read(bytes, as: "profile") { key, reader throws(JSONError) in
      switch key {
      case "name": name = try reader.string()
      case "color": color = try reader.optionalString()
      default: try reader.skipValue()
      }
    } make: { () throws(MessageError) in
      guard let name else { throw .missing("name", in: "profile") }
      return Self(name: name, color: color)
    }
  }
}

extension ClientMessage.Subscribe {
  fileprivate init(
    _ type: String, _ envelope: Envelope, _ bytes: UnsafeBufferPointer<UInt8>
  ) throws(MessageError) {
    var room: String?
    self = try envelope.read(bytes, as: type) { key, reader throws(JSONError) in
      switch key {
      case "room": room = try reader.string()
      default: try reader.skipValue()
      }
    } make: { () throws(MessageError) in
      guard let room else { throw .missing("room", in: type) }
      return Self(room: room)
    }
  }
}

extension JSONWriter {
  static func selections(_ selections: [Selection], _ buffer: inout [UInt8]) {
    array(selections, &buffer) { selection, buffer in
      array([selection.anchor, selection.head], &buffer) { integer($0, &$1) }
    }
  }
}
