#if hasFeature(Embedded)
  // A browser's program is a client: it neither writes what only servers send, nor reads what only
  // clients send. Its program omits that code.

  extension Array where Element: MessageForm {
    static var isSent: Bool { Element.isSent }
    static var isReceived: Bool { Element.isReceived }
  }

  extension ServerMessage.Participant { static var isSent: Bool { false } }
  extension ServerMessage.Change { static var isSent: Bool { false } }
  extension ServerMessage.Author { static var isSent: Bool { false } }
  extension ServerMessage.Numbers { static var isSent: Bool { false } }
  extension ServerMessage.NumberedChanges.Run { static var isSent: Bool { false } }
  extension ServerMessage.LastOnline.Item { static var isSent: Bool { false } }
  extension ServerMessage.AccessChanged.Access { static var isSent: Bool { false } }
  extension ServerMessage.Joined.Access { static var isSent: Bool { false } }
  extension ServerMessage.ResyncReason { static var isSent: Bool { false } }
  extension ErrorCode { static var isSent: Bool { false } }
  extension Limits { static var isSent: Bool { false } }
  extension Publication { static var isSent: Bool { false } }
  extension PublicationFlag { static var isSent: Bool { false } }
  extension PersonProfile { static var isSent: Bool { false } }
  extension PresenceChange { static var isSent: Bool { false } }
  extension Receipt { static var isSent: Bool { false } }
  extension ClosedRange<Int> { static var isSent: Bool { false } }

  extension ClientMessage.Hello.Claim { static var isReceived: Bool { false } }
  extension ResumePoint { static var isReceived: Bool { false } }
#endif
