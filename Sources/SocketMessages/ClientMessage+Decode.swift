import JSON
import OTCore

extension ClientMessage {
  /// Reads a message from the bytes of a text frame.
  ///
  /// - Parameter operationComponentsMax: Components that a change's operation may have. Reading
  ///   stops there.
  /// - Throws: `MessageError` for anything that is no message, naming field and place; `tooLarge`
  ///   for an operation of more components, naming the change.
  public static func decode(
    _ message: UnsafeRawBufferPointer, operationComponentsMax: Int = .max
  ) throws(MessageError) -> (messageID: String, message: ClientMessage) {
    let envelope = try Envelope(message)
    return (
      envelope.messageID.string,
      try decode(envelope, operationComponentsMax: operationComponentsMax)
    )
  }

  /// Reads what an envelope holds.
  package static func decode(
    _ envelope: Envelope, operationComponentsMax: Int = .max
  ) throws(MessageError) -> ClientMessage {
    switch envelope.type {
    case "change": .change(try Change(envelope, componentsMax: operationComponentsMax))
    case "select": .select(try Select(envelope))
    case "ping": .ping
    case "hello": .hello(try Hello(envelope))
    case "refresh": .refresh(try Refresh(envelope, "refresh"))
    case "grant": .grant(try Refresh(envelope, "grant"))
    case "join": .join(try Join(envelope))
    case "leave": .leave(try Leave(envelope))
    case "profile": .profile(try Profile(envelope))
    default: try decodeRooms(envelope) ?? .unknown(type: envelope.type.string)
    }
  }
}

extension ClientMessage.Hello {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var name: String?
    var color: String?
    var token: String?
    var claim: Claim?
    self = try envelope.read("hello") { key, reader throws(JSONError) in
      switch key {
      case "name": name = try reader.string()
      case "color": color = try reader.optionalString()
      case "token": token = try reader.optionalString()
      case "client": claim = try reader.isNull() ? nil : try reader.claim()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(name: try name.required("name"), color: color, client: claim, token: token)
    }
  }
}

extension JSONReader {
  fileprivate mutating func claim() throws(JSONError) -> ClientMessage.Hello.Claim {
    var id: String?
    var resumeToken: String?
    try object { key, reader throws(JSONError) in
      switch key {
      case "id": id = try reader.string()
      case "resumeToken": resumeToken = try reader.string()
      default: try reader.skipValue()
      }
    }
    return ClientMessage.Hello.Claim(
      id: try id.required("id"), resumeToken: try resumeToken.required("resumeToken"))
  }

  fileprivate mutating func resumePoint() throws(JSONError) -> ResumePoint {
    var epoch: String?
    var revision: Int?
    var change: ChangeName?
    try object { key, reader throws(JSONError) in
      switch key {
      case "epoch": epoch = try reader.string()
      case "revision": revision = try reader.integer()
      case "change": change = try reader.isNull() ? nil : try reader.changeName()
      default: try reader.skipValue()
      }
    }
    return ResumePoint(
      epoch: try epoch.required("epoch"), revision: try revision.required("revision"),
      change: change)
  }
}

extension ClientMessage.Join {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var documentID: String?
    var resume: ResumePoint?
    self = try envelope.read("join") { key, reader throws(JSONError) in
      switch key {
      case "documentId": documentID = try reader.string()
      case "resume": resume = try reader.isNull() ? nil : try reader.resumePoint()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(documentID: try documentID.required("documentId"), resume: resume)
    }
  }
}

extension ClientMessage.Change {
  fileprivate init(_ envelope: Envelope, componentsMax: Int) throws(MessageError) {
    var documentID: String?
    var epoch: String?
    var revision: Int?
    var sequence: Int?
    var operation: TextOperation?
    var hasTooManyComponents = false
    do throws(MessageError) {
      self = try envelope.read("change") { key, reader throws(JSONError) in
        switch key {
        case "documentId": documentID = try reader.string()
        case "epoch": epoch = try reader.string()
        case "revision": revision = try reader.integer()
        case "sequence": sequence = try reader.integer()
        case "operation":
          operation = try reader.operation(componentsMax: componentsMax)
          hasTooManyComponents = operation == nil
        default: try reader.skipValue()
        }
      } make: { () throws(JSONError) in
        let (documentID, sequence) = (
          try documentID.required("documentId"), try sequence.required("sequence")
        )
        guard !hasTooManyComponents else {
          throw .tooManyComponents(componentsMax: componentsMax)
        }
        return Self(
          documentID: documentID,
          epoch: try epoch.required("epoch"),
          revision: try revision.required("revision"),
          sequence: sequence,
          operation: try operation.required("operation"))
      }
    } catch {
      var error = error
      if error.code == .tooLarge, let documentID, let sequence {
        error.change = .init(documentID: documentID, sequence: sequence)
      }
      throw error
    }
  }
}

extension ClientMessage.Select {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var documentID: String?
    var revision: Int?
    var selections: [Selection]?
    self = try envelope.read("select") { key, reader throws(JSONError) in
      switch key {
      case "documentId": documentID = try reader.string()
      case "revision": revision = try reader.integer()
      case "selections": selections = try reader.selections()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        documentID: try documentID.required("documentId"),
        revision: try revision.required("revision"),
        selections: try selections.required("selections"))
    }
  }
}

extension ClientMessage.Leave {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var documentID: String?
    self = try envelope.read("leave") { key, reader throws(JSONError) in
      switch key {
      case "documentId": documentID = try reader.string()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(documentID: try documentID.required("documentId"))
    }
  }
}

extension ClientMessage.Profile {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var name: String?
    var color: String?
    self = try envelope.read("profile") { key, reader throws(JSONError) in
      switch key {
      case "name": name = try reader.string()
      case "color": color = try reader.optionalString()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(name: try name.required("name"), color: color)
    }
  }
}
