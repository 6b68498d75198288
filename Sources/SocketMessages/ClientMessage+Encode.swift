import JSON
import OTCore

extension ClientMessage {
  /// Appends the message as JSON.
  public func encode(messageID: String, into buffer: inout [UInt8]) {
    switch self {
    case .hello(let hello): hello.encode(messageID, &buffer)
    case .refresh(let refresh):
      Envelope.write(messageID: messageID, type: "refresh", into: &buffer) { data, buffer in
        data.field("token", refresh.token, &buffer)
      }
    case .grant(let grant):
      Envelope.write(messageID: messageID, type: "grant", into: &buffer) { data, buffer in
        data.field("token", grant.token, &buffer)
      }
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
    case .subscribe, .unsubscribe, .publish, .roomHistory, .typing, .receipt, .receipts,
      .lastOnline, .block, .blocks, .flag, .flags, .follow:
      encodeRooms(messageID: messageID, into: &buffer)
    case .ping:
      Envelope.write(messageID: messageID, type: "ping", into: &buffer) { _, _ in }
    case .unknown: break
    }
  }
}

extension ClientMessage.Hello {
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
  fileprivate func encode(_ messageID: String, _ buffer: inout [UInt8]) {
    Envelope.write(messageID: messageID, type: "join", into: &buffer) { data, buffer in
      data.field("documentId", documentID, &buffer)
      if let resume {
        data.key("resume", &buffer)
        JSONWriter.object(&buffer) { object, buffer in
          object.field("epoch", resume.epoch, &buffer)
          object.field("revision", resume.revision, &buffer)
          object.field("change", resume.change, &buffer)
        }
      }
    }
  }
}

extension ClientMessage.Change {
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
  fileprivate func encode(_ messageID: String, _ buffer: inout [UInt8]) {
    Envelope.write(messageID: messageID, type: "select", into: &buffer) { data, buffer in
      data.field("documentId", documentID, &buffer)
      data.field("revision", revision, &buffer)
      data.key("selections", &buffer)
      JSONWriter.selections(selections, &buffer)
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
