// Limits by their names on the wire, for tests of the pages that list them.
#if !hasFeature(Embedded)
  import ParleyJSON

  extension Limits {
    /// All limits with their names on the wire, in the order of writing.
    package var byName: [(name: String, value: Int)] {
      var fields = MessageFields(.writing)
      fields.write(self)
      return (JSONFields(fields.buffer)?.all ?? []).map { ($0.name, $0.value.integer ?? 0) }
    }

    /// Creates limits from the value for each name on the wire.
    package init(byName value: (String) -> Int) {
      let json = JSONFields(
        Limits().byName.map { JSONFields.Field($0.name, JSONValue(value($0.name))) }
      ).json
      self = json.withUnsafeBufferPointer { bytes in
        var fields = MessageFields(
          reading: JSONReader(bytes), operationComponentsMax: .max)
        return (try? fields.object()) ?? Limits()
      }
    }
  }
#endif
