public import Observation
import ParleyClientCore
import SocketMessages

/// Another person in a note or a room. The object remains the same while the person is present.
@MainActor @Observable public final class Person: Identifiable {
  /// The client's id in a note, the person's in a room.
  public nonisolated let id: String
  /// The id of the user in a note, the same on all of their devices, and in this note alone: the
  /// value of the attribute `mention`. In a room ``id``; `nil` for people without an account.
  public internal(set) var personID: String?
  /// The name shown to others.
  public internal(set) var name: String
  /// The colour, `#rrggbb`.
  public internal(set) var color: String?
  /// The selections in a note, in UTF-16 units of its text; empty in a room.
  public internal(set) var selections: [TextSelection] = []
  /// Whether the person edited the note a moment ago, or is typing in the room.
  public internal(set) var isWriting = false

  init(id: String, name: String) {
    self.id = id
    self.name = name
  }

  /// Sets the properties that have changed: setting a property redraws its views.
  func set(name: String, color: String?, selections: [TextSelection], isWriting: Bool) {
    if self.name != name { self.name = name }
    if self.color != color { self.color = color }
    if self.selections != selections { self.selections = selections }
    if self.isWriting != isWriting { self.isWriting = isWriting }
  }
}

extension [Person] {
  /// Returns people with these ids, in this order; listed people remain the same objects.
  @MainActor func renewed<Value>(
    by values: [Value], id: (Value) -> String, name: (Value) -> String
  ) -> [Person] {
    var known: [String: Person] = [:]
    for person in self { known[person.id] = person }
    return values.map { known[id($0)] ?? Person(id: id($0), name: name($0)) }
  }
}
