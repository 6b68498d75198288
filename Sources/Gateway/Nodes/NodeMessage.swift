import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// A message from a node to the other nodes, over a broker that may lose, delay or repeat it.
struct NodeMessage: Equatable {
  /// The content of a message. Receivers read from the store whatever the store contains, and trust
  /// only the rest.
  enum Content: Equatable {
    /// A room has a publication with this offset; receivers read it from the store.
    case published(offset: Int)
    /// A resource has changed; no room stores the update.
    case update(ResourceUpdate)
    /// An event from a room's member; no room stores it.
    case event(TransientEvent)
    /// A signal in a room; no room stores it.
    case signal(RoomSignal)
    /// A person has begun or stopped typing.
    case typing(PersonID, isTyping: Bool)
    /// A receipt of a publication, for the publication's author.
    case receipt(offset: Int, Receipt, author: PersonID)
    /// A flag on a publication was set or removed; for moderators.
    case flag(PublicationFlag, isFlagged: Bool)
    /// A person's block list has changed; receivers read it from the store.
    case blocks
    /// A confirmation: the node's people have this version.
    case beat(version: Int)
    /// The node's people have changed, from one version to another.
    case change(PeopleChange, from: Int, version: Int)
    /// A part of the list of all the node's people, with their carets.
    case people(PeopleChange, part: Int, parts: Int, version: Int)
    /// A request for all people of a node, or of every node if `nil`.
    case ask(of: String?)
  }

  /// Identifies this run of the node; a restart gets a new one.
  var node: String
  /// The node's uptime at sending, in milliseconds.
  var sent: Int64
  /// The content.
  var content: Content
}

// MARK: Bytes

extension NodeMessage {
  /// The maximum bytes of a message; a longer one is neither sent nor read.
  static let bytesMax = 4_096

  /// The message as JSON.
  var encoded: [UInt8] {
    JSONWriter.object { object, bytes in
      object.field("n", node, &bytes)
      object.field("t", Int(sent), &bytes)
      switch content {
      case .published(let offset): object.field("published", offset, &bytes)
      case .update(let update):
        object.field("update", update.resourceID, &bytes)
        if let sender = update.senderID { object.field("sender", sender, &bytes) }
      case .event(let event):
        object.field("event", event.name, &bytes)
        object.field("data", event.data, &bytes)
        object.field("sender", event.sender, &bytes)
        if let person = event.person { object.field("person", person, &bytes) }
      case .signal(let signal):
        object.field("signal", signal.name, &bytes)
        object.field("data", signal.data, &bytes)
        object.field("client", signal.client, &bytes)
        if let person = signal.person { object.field("person", person, &bytes) }
      case .typing(let person, let isTyping):
        object.field("typing", person, &bytes)
        object.field("on", isTyping, &bytes)
      case .receipt(let offset, let receipt, let author):
        object.field("receipt", offset, &bytes)
        object.field("person", receipt.personID, &bytes)
        object.field("stage", receipt.stage.rawValue, &bytes)
        object.field("author", author, &bytes)
      case .flag(let flag, let isFlagged):
        object.field("flag", flag.offset, &bytes)
        object.field("person", flag.personID, &bytes)
        object.field("on", isFlagged, &bytes)
        if let reason = flag.reason { object.field("reason", reason, &bytes) }
      case .blocks: object.field("blocks", true, &bytes)
      case .beat(let version): object.field("beat", version, &bytes)
      case .change(let change, let former, let version):
        object.field("change", version, &bytes)
        object.field("from", former, &bytes)
        object.key("joined", &bytes)
        PeopleChange.write(change.joined, &bytes)
        object.key("left", &bytes)
        JSONWriter.array(change.left, &bytes) { JSONWriter.string($0, &$1) }
        object.key("broken", &bytes)
        JSONWriter.array(change.broken, &bytes) { JSONWriter.string($0, &$1) }
        change.writeCarets(&object, &bytes)
      case .people(let people, let part, let parts, let version):
        object.field("people", version, &bytes)
        object.field("part", part, &bytes)
        object.field("parts", parts, &bytes)
        object.key("all", &bytes)
        PeopleChange.write(people.joined, &bytes)
        people.writeCarets(&object, &bytes)
      case .ask(let node): object.field("ask", node ?? "", &bytes)
      }
    }
  }

  /// Reads a message; `nil` if the bytes are not a message.
  init?(_ bytes: [UInt8]) {
    guard bytes.count <= Self.bytesMax, let fields = JSONFields(bytes),
      let node = fields["n"]?.string, !node.isEmpty, node.utf8.count <= 200,
      let sent = fields["t"]?.integer, let content = Self.content(of: fields)
    else { return nil }
    self.init(node: node, sent: Int64(sent), content: content)
  }

  private static func content(of fields: JSONFields) -> Content? {
    let person = (fields["person"]?.string).map { PersonID($0) }
    let isOn = fields["on"]?.boolean
    if let offset = fields["published"]?.integer { return .published(offset: offset) }
    if let resource = fields["update"]?.string {
      return .update(ResourceUpdate(resourceID: resource, senderID: fields["sender"]?.string))
    }
    if let event = fields["event"]?.string, let data = fields["data"],
      let sender = fields["sender"]?.string
    {
      return .event(TransientEvent(name: event, data: data, sender: sender, person: person))
    }
    if let name = fields["signal"]?.string, let data = fields["data"] {
      return .signal(
        RoomSignal(client: fields["client"]?.string, person: person, name: name, data: data))
    }
    if let person = fields["typing"]?.string, let isOn {
      return .typing(PersonID(person), isTyping: isOn)
    }
    if let offset = fields["receipt"]?.integer, let person, let author = fields["author"]?.string,
      let stage = fields["stage"]?.string.flatMap(ReceiptStage.init(rawValue:))
    {
      return .receipt(
        offset: offset, Receipt(personID: person, stage: stage), author: PersonID(author))
    }
    if let offset = fields["flag"]?.integer, let person, let isOn {
      return .flag(
        PublicationFlag(
          offset: offset, personID: person, reason: fields["reason"]?.string, time: 0),
        isFlagged: isOn)
    }
    if fields["blocks"] != nil { return .blocks }
    if let version = fields["beat"]?.integer { return .beat(version: version) }
    if let version = fields["change"]?.integer, let former = fields["from"]?.integer,
      let change = PeopleChange(fields, joined: "joined")
    {
      return .change(change, from: former, version: version)
    }
    if let version = fields["people"]?.integer, let part = fields["part"]?.integer,
      let parts = fields["parts"]?.integer, (1...PeopleExchange.partsMax).contains(parts),
      (0..<parts).contains(part), let people = PeopleChange(fields, joined: "all")
    {
      return .people(people, part: part, parts: parts, version: version)
    }
    if let node = fields["ask"]?.string { return .ask(of: node.isEmpty ? nil : node) }
    return nil
  }
}
