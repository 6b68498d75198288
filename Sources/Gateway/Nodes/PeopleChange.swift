import ParleyJSON
import OTCore
import SocketMessages

/// A person that a node reports under a topic: a person in a room, a person's client in a note.
struct NodePerson: Equatable {
  /// The name and the colour. `personID` is the person's id in a room, and the client's id in a
  /// note.
  var profile: PersonProfile
  /// In a note, the id of the client's person that the note's followers see.
  var person: PersonID?
  /// An app's description of the person, for clients of the app's protocol.
  var description: JSONValue?

  /// The key among the people of a topic.
  var id: String { profile.personID.text }

  /// Compares bytes, so that canonically equivalent names differ.
  static func == (one: Self, other: Self) -> Bool {
    func same(_ one: String?, _ other: String?) -> Bool {
      (one == nil) == (other == nil) && (one ?? "").isExactly(other ?? "")
    }
    return same(one.id, other.id) && same(one.profile.name, other.profile.name)
      && same(one.profile.color, other.profile.color) && one.person == other.person
      && one.description == other.description && one.profile.data == other.profile.data
  }
}

/// The carets of a client in a note.
struct NodeCarets: Equatable {
  /// The client's id.
  var id: String
  /// The carets; empty if they were removed.
  var selections: [Selection]
}

/// A revision of a note's log, to which carets refer.
struct CaretRevision: Equatable {
  var epoch: Epoch
  var revision: Int
}

/// A change of the people that a node has under a topic.
struct PeopleChange: Equatable {
  /// People who came, or whose name or colour has changed.
  var joined: [NodePerson] = []
  /// The ids of people who left.
  var left: [String] = []
  /// The ids of people whose connections broke; they may return.
  var broken: [String] = []
  /// The carets that have moved.
  var moved: [NodeCarets] = []
  /// The revision of the carets; `nil` without carets, as in rooms.
  var caretRevision: CaretRevision?

  /// Whether the change is empty.
  var isEmpty: Bool { joined.isEmpty && left.isEmpty && broken.isEmpty && moved.isEmpty }

  /// Appends another change, whose carets refer to the same revision.
  mutating func append(_ other: Self) {
    joined += other.joined
    left += other.left
    broken += other.broken
    moved += other.moved
    caretRevision = other.caretRevision ?? caretRevision
  }
}

// MARK: JSON

extension PeopleChange {
  /// The approximate size in bytes, without `caretRevision`.
  var size: Int {
    var bytes: [UInt8] = []
    Self.write(joined, &bytes)
    for name in left + broken { JSONWriter.string(name, &bytes) }
    Self.write(moved, &bytes)
    return bytes.count + left.count + broken.count
  }

  /// Writes the fields with carets.
  func writeCarets(_ object: inout JSONWriter.Object, _ bytes: inout [UInt8]) {
    guard let caretRevision else { return }
    object.field("epoch", caretRevision.epoch.text, &bytes)
    object.field("revision", caretRevision.revision, &bytes)
    object.key("moved", &bytes)
    Self.write(moved, &bytes)
  }

  /// Writes people as an array.
  static func write(_ people: [NodePerson], _ bytes: inout [UInt8]) {
    JSONWriter.array(people, &bytes) { person, bytes in
      JSONWriter.object(&bytes) { object, bytes in
        object.field("id", person.id, &bytes)
        object.field("name", person.profile.name, &bytes)
        if let color = person.profile.color { object.field("color", color, &bytes) }
        if let data = person.profile.data { object.field("data", data, &bytes) }
        if let text = person.description { object.field("description", text, &bytes) }
        if let person = person.person { object.field("person", person, &bytes) }
      }
    }
  }

  private static func write(_ moved: [NodeCarets], _ bytes: inout [UInt8]) {
    JSONWriter.array(moved, &bytes) { carets, bytes in
      JSONWriter.object(&bytes) { object, bytes in
        object.field("id", carets.id, &bytes)
        object.key("at", &bytes)
        JSONWriter.array(carets.selections.flatMap { [$0.anchor, $0.head] }, &bytes) {
          JSONWriter.integer($0, &$1)
        }
      }
    }
  }

  /// Reads a change; `field` names the field with the people who joined.
  ///
  /// - Returns: `nil` if a part of the change is invalid.
  init?(_ fields: JSONFields, joined field: String) {
    guard let joined = Self.people(in: fields[field]), let left = Self.names(in: fields["left"]),
      let broken = Self.names(in: fields["broken"])
    else { return nil }
    self.init(joined: joined, left: left, broken: broken)
    guard let epoch = fields["epoch"]?.string else { return }
    guard let revision = fields["revision"]?.integer, revision >= 0,
      let moved = Self.carets(in: fields["moved"])
    else { return nil }
    self.moved = moved
    caretRevision = CaretRevision(epoch: Epoch(epoch), revision: revision)
  }

  private static func names(in value: JSONValue?) -> [String]? {
    guard let value else { return [] }
    return all(value.elements) { $0.string }
  }

  private static func people(in value: JSONValue?) -> [NodePerson]? {
    all(value?.elements) { element in
      guard let fields = element.fields, let id = fields["id"]?.string,
        let name = fields["name"]?.string
      else { return nil }
      let color = fields["color"]?.string
      guard color.map(PersonProfile.isColor) ?? true else { return nil }
      var profile = PersonProfile(personID: PersonID(id), name: name, color: color)
      profile.data = fields["data"]
      return NodePerson(
        profile: profile,
        person: (fields["person"]?.string).map { PersonID($0) }, description: fields["description"])
    }
  }

  private static func carets(in value: JSONValue?) -> [NodeCarets]? {
    all(value?.elements) { element in
      guard let fields = element.fields, let id = fields["id"]?.string,
        let places = all(fields["at"]?.elements, \.integer), places.count % 2 == 0
      else { return nil }
      return NodeCarets(
        id: id,
        selections: stride(from: 0, to: places.count, by: 2).map {
          Selection(anchor: places[$0], head: places[$0 + 1])
        })
    }
  }

  /// Reads each element; `nil` if one of them is invalid.
  private static func all<Element>(
    _ elements: [JSONValue]?, _ read: (JSONValue) -> Element?
  ) -> [Element]? {
    guard let elements else { return nil }
    var all: [Element] = []
    for element in elements {
      guard let element = read(element) else { return nil }
      all.append(element)
    }
    return all
  }
}
