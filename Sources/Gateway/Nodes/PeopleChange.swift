import ParleyJSON
import OTCore
import SocketMessages

/// A person that a node has under a topic: in a room a person, in a note a person's client.
struct NodePerson: Equatable {
  /// The name and the colour. The id is the person's in a room, and the client's in a note.
  var profile: PersonProfile
  /// The person whose client it is, as the followers of the note know them.
  var person: PersonID?
  /// An app's description of the person, for clients of its protocol.
  var description: JSONValue?

  /// The key among the people of a topic.
  var id: String { profile.personID }

  /// Whether nothing has changed. Names that only look alike are different.
  static func == (one: Self, other: Self) -> Bool {
    func same(_ one: String?, _ other: String?) -> Bool {
      (one == nil) == (other == nil) && (one ?? "").utf8.elementsEqual((other ?? "").utf8)
    }
    return same(one.id, other.id) && same(one.profile.name, other.profile.name)
      && same(one.profile.color, other.profile.color) && same(one.person, other.person)
      && one.description == other.description
  }
}

/// The carets of a client in a note.
struct NodeCarets: Equatable {
  /// The client.
  var id: String
  /// The carets; empty if they are gone.
  var selections: [Selection]
}

/// A place in a note's log: carets are on the text there.
struct CaretPlace: Equatable {
  var epoch: String
  var revision: Int
}

/// A change of the people that a node has somewhere.
struct PeopleChange: Equatable {
  /// People who have come, or have another name or colour.
  var joined: [NodePerson] = []
  /// The ids of people who have gone.
  var left: [String] = []
  /// The ids of people whose connections broke, and who may return.
  var broken: [String] = []
  /// Carets that have been moved.
  var moved: [NodeCarets] = []
  /// The place of the carets; `nil` where there are none, as in rooms.
  var place: CaretPlace?

  /// Whether the change is empty.
  var isEmpty: Bool { joined.isEmpty && left.isEmpty && broken.isEmpty && moved.isEmpty }

  /// Adds another change at the same place.
  mutating func append(_ other: Self) {
    joined += other.joined
    left += other.left
    broken += other.broken
    moved += other.moved
    place = other.place ?? place
  }
}

// MARK: JSON

extension PeopleChange {
  /// Its approximate size in bytes, without its place.
  var size: Int {
    var bytes: [UInt8] = []
    Self.write(joined, &bytes)
    for name in left + broken { JSONWriter.string(name, &bytes) }
    Self.write(moved, &bytes)
    return bytes.count + left.count + broken.count
  }

  /// Writes the fields with people's carets.
  func writeCarets(_ object: inout JSONWriter.Object, _ bytes: inout [UInt8]) {
    guard let place else { return }
    object.field("epoch", place.epoch, &bytes)
    object.field("revision", place.revision, &bytes)
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

  /// Reads a change whose newcomers are in a given field.
  ///
  /// - Returns: `nil` if a part of it is invalid.
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
    place = CaretPlace(epoch: epoch, revision: revision)
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
      return NodePerson(
        profile: PersonProfile(personID: id, name: name, color: color),
        person: fields["person"]?.string, description: fields["description"])
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

  /// All elements, read one by one; `nil` if one of them is invalid.
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
