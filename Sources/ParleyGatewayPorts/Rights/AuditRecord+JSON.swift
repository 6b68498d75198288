import ParleyJSON

extension AuditRecord {
  /// Writes the record as a JSON object, as `GET /api/audit` and `parley audit` show it.
  public func write(into bytes: inout [UInt8]) {
    JSONWriter.object(&bytes) { object, bytes in
      object.field("number", number, &bytes)
      object.field("time", Int(time), &bytes)
      object.field("actor", actor, &bytes)
      object.field("action", action.name, &bytes)
      object.field("target", target, &bytes)
      object.field("address", address, &bytes)
      object.field("outcome", outcome.word, &bytes)
      object.field("detail", detail, &bytes)
    }
  }
}
