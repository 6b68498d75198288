import ParleyJSON
import OTCore

// The fields of the messages that clients send. Each field's name is written only here.

extension ChangeName: MessageObject {
  static var blank: Self { Self(clientID: "", sequence: 0) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("clientId", &clientID)
    try fields.required("sequence", &sequence)
    try fields.optional("time", &time)
  }
}

extension ResumePoint: MessageObject {
  static var blank: Self { Self(epoch: "", revision: 0) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("epoch", &epoch)
    try fields.required("revision", &revision)
    try fields.optional("change", &change)
  }
}

extension ClientMessage.Hello: MessageObject {
  static var blank: Self { Self(name: "") }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("name", &name)
    try fields.optional("color", &color)
    try fields.optional("client", &client)
    try fields.optional("token", &token)
    try fields.flag("numbers", &takesNumbers)
    try fields.optional("numbersMax", &numbersMax)
  }
}

extension ClientMessage.Hello.Claim: MessageObject {
  static var blank: Self { Self(id: "", resumeToken: "") }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("id", &id)
    try fields.required("resumeToken", &resumeToken)
  }
}

extension ClientMessage.Refresh: MessageObject {
  static var blank: Self { Self(token: "") }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("token", &token)
  }
}

extension ClientMessage.Join: MessageObject {
  static var blank: Self { Self(documentID: "") }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("documentId", &documentID)
    try fields.optional("resume", &resume)
    try fields.optional("unanswered", &unanswered)
    try fields.flag("pages", &pages)
    try fields.flag("formats", &formats)
  }
}

extension ClientMessage.Create: MessageObject {
  static var blank: Self { Self(documentID: "", title: "") }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("documentId", &documentID)
    try fields.required("title", &title)
    try fields.optional("folder", &folder)
    try fields.optional("kind", &kind)
  }
}

extension ClientMessage.DocumentHistory: MessageObject {
  static var blank: Self { Self(documentID: "", resume: .blank) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("documentId", &documentID)
    try fields.required("resume", &resume)
    try fields.optional("limit", &limit)
  }
}

extension ClientMessage.Change: MessageObject {
  static var blank: Self {
    Self(documentID: "", epoch: "", revision: 0, sequence: 0, operation: TextOperation())
  }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("documentId", &documentID)
    try fields.required("epoch", &epoch)
    try fields.required("revision", &revision)
    try fields.required("sequence", &sequence)
    try fields.required("operation", &operation)
    try fields.optional("format", &format)
    #if !hasFeature(Embedded)
      try fields.flag("exact", &isExact)
    #endif
  }
  var rejectedChange: MessageError.RejectedChange? {
    MessageError.RejectedChange(documentID: documentID, sequence: sequence)
  }
}

extension ClientMessage.Select: MessageObject {
  static var blank: Self { Self(documentID: "", revision: 0, selections: []) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("documentId", &documentID)
    try fields.required("revision", &revision)
    try fields.required("selections", &selections)
  }
}

extension ClientMessage.Leave: MessageObject {
  static var blank: Self { Self(documentID: "") }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("documentId", &documentID)
  }
}

extension ClientMessage.Profile: MessageObject {
  static var blank: Self { Self(name: "") }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("name", &name)
    try fields.optional("color", &color)
  }
}
