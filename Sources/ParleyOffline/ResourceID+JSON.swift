package import ParleyJSON
import ParleyModel

extension ResourceID {
  /// Reads an id from JSON; `nil` for anything else.
  package init?(json: JSONValue) {
    if let text = json.string {
      self.init(text)
    } else if let number = Int64(String(decoding: json.utf8, as: UTF8.self)) {
      self.init(number)
    } else if let name = Self.reference(json) {
      self.init(.temporary(name))
    } else {
      return nil
    }
  }

  /// The id as JSON.
  package var json: JSONValue {
    switch form {
    case .text(let name): return JSONValue(name.text)
    case .number(let number): return JSONValue(trusted: Array(String(number).utf8))
    case .temporary(let name):
      return JSONValue(JSONFields([.init("$ref", JSONValue(name))]))
    }
  }

  /// The id as a key of tables: equal texts mean equal ids.
  package var key: String { String(decoding: json.utf8, as: UTF8.self) }

  /// Reads an id from ``key``.
  package init?(key: String) {
    guard let json = JSONValue(key.utf8) else { return nil }
    self.init(json: json)
  }

  /// Returns the temporary name if the JSON is a reference: an object with the single field `$ref`.
  package static func reference(_ json: JSONValue) -> String? {
    guard json.utf8.first == UInt8(ascii: "{"), let fields = json.fields, fields.all.count == 1,
      let name = fields["$ref"]?.string, isTemporaryName(name)
    else { return nil }
    return name
  }
}

/// The temporary ids in a body, found by their JSON form, not by searching in strings.
package enum References {
  /// Returns the temporary names in a JSON value.
  ///
  /// - Complexity: O(*bytes* × *depth*); the depth is limited.
  package static func names(in json: JSONValue) -> Set<String> {
    guard json.utf8.contains(UInt8(ascii: "$")) else { return [] }
    if let name = ResourceID.reference(json) { return [name] }
    var names: Set<String> = []
    for child in children(of: json) { names.formUnion(self.names(in: child)) }
    return names
  }

  /// Returns the JSON with each reference replaced by the server's id, where it is known.
  package static func resolve(_ json: JSONValue, _ id: (String) -> ResourceID?) -> JSONValue {
    guard json.utf8.contains(UInt8(ascii: "$")) else { return json }
    if let name = ResourceID.reference(json) { return id(name)?.json ?? json }
    if json.utf8.first == UInt8(ascii: "{"), let fields = json.fields {
      return JSONValue(JSONFields(fields.all.map { .init($0.name, resolve($0.value, id)) }))
    }
    if json.utf8.first == UInt8(ascii: "["), let elements = json.elements {
      return JSONValue(elements.map { resolve($0, id) })
    }
    return json
  }

  private static func children(of json: JSONValue) -> [JSONValue] {
    switch json.utf8.first {
    case UInt8(ascii: "{"): json.fields?.all.map(\.value) ?? []
    case UInt8(ascii: "["): json.elements ?? []
    default: []
    }
  }
}

/// Merging and comparing JSON objects.
package enum Merging {
  /// Returns an object with the fields of both; of a name in both, the later object's value.
  ///
  /// - Complexity: O(*bytes*).
  package static func merge(_ earlier: JSONValue, with later: JSONValue) -> JSONValue {
    guard let first = earlier.fields, let second = later.fields else { return later }
    var places: [[UInt8]: Int] = [:]
    var all = first.all
    for (index, field) in all.enumerated() { places[Array(field.name.utf8)] = index }
    for field in second.all {
      if let place = places[Array(field.name.utf8)] {
        all[place] = field
      } else {
        all.append(field)
      }
    }
    return JSONValue(JSONFields(all))
  }

  /// Returns the fields of `json` that differ from `base`; removed fields are `null`.
  package static func difference(from base: JSONValue, to json: JSONValue) -> JSONValue {
    guard let former = base.fields, let fields = json.fields else { return json }
    var left: [[UInt8]: JSONValue] = [:]
    for field in former.all { left[Array(field.name.utf8)] = field.value }
    var changed = fields.all.filter { field in
      guard let old = left.removeValue(forKey: Array(field.name.utf8)) else {
        return !field.value.isNull
      }
      return old != field.value
    }
    for field in former.all where left[Array(field.name.utf8)].map({ !$0.isNull }) ?? false {
      changed.append(.init(field.name, .null))
    }
    return JSONValue(JSONFields(changed))
  }

  /// Returns the object without a field.
  package static func removing(_ name: String, from json: JSONValue) -> JSONValue {
    guard var fields = json.fields else { return json }
    fields.remove(name)
    return JSONValue(fields)
  }
}
