package import ParleyGatewayPorts
import ParleyJSON
import ParleyStoreRecords

/// Creates the output of commands with `--json`: one object on one line.
package enum JSONReport {
  /// Returns the users of a file.
  package static func users(_ lines: [UserLine]) -> String {
    list("users", lines) { line, object, bytes in
      object.field("id", line.user.id, &bytes)
      object.field("name", line.user.name, &bytes)
      object.field("mail", line.mail, &bytes)
      words("rights", line.rights, &object, &bytes)
      object.field("since", line.user.since, &bytes)
    }
  }

  /// Returns the sessions of a user.
  package static func sessions(_ sessions: [Session]) -> String {
    list("sessions", sessions) { session, object, bytes in
      object.field("id", session.id, &bytes)
      object.field("browser", session.device.browser, &bytes)
      object.field("system", session.device.system, &bytes)
      object.field("begunAt", session.begunAt, &bytes)
      object.field("usedAt", session.renewedAt, &bytes)
      object.field("expiresAt", session.expiresAt, &bytes)
    }
  }

  /// Returns the groups of a file of users, each with its members.
  package static func groups(_ groups: [GroupLine], _ users: [UserLine]) -> String {
    list("groups", groups) { group, object, bytes in
      object.field("name", group.name, &bytes)
      words("rights", group.rights, &object, &bytes)
      let members = users.filter { $0.groups.contains(group.name) }
      words("members", members.map(\.user.id), &object, &bytes)
    }
  }

  /// Returns the valid invitations.
  package static func invitations(_ invitations: [Invitation]) -> String {
    list("invitations", invitations) { invitation, object, bytes in
      object.field("id", invitation.id, &bytes)
      object.field("uses", invitation.uses, &bytes)
      object.field("until", invitation.until, &bytes)
      words("rights", invitation.rights, &object, &bytes)
    }
  }

  /// Returns the notes of a store.
  package static func notes(_ notes: [NoteSummary]) -> String { list("notes", notes, fields) }

  /// Returns the public names of published notes.
  package static func names(_ names: [PublicName]) -> String {
    list("names", names) { published, object, bytes in
      object.field("name", published.name.text, &bytes)
      object.field("note", published.note.text, &bytes)
      object.field("maker", published.maker, &bytes)
      object.field("createdAt", published.createdAt, &bytes)
    }
  }

  /// Returns a record of the audit log, as one line.
  package static func line(_ record: AuditRecord) -> String {
    var bytes: [UInt8] = []
    record.write(into: &bytes)
    bytes.append(UInt8(ascii: "\n"))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns the deleted notes that can be restored.
  package static func notes(deleted notes: [DeletedNote]) -> String {
    list("notes", notes) { deleted, object, bytes in
      fields(deleted.note, &object, &bytes)
      object.field("deletedAt", deleted.deletion.time, &bytes)
      object.field("deletedBy", deleted.deletion.author, &bytes)
    }
  }

  /// Returns the hits of a search, best first, each with the matching passage.
  package static func hits(_ hits: [SearchHit]) -> String {
    list("notes", hits) { hit, object, bytes in
      fields(hit.note, &object, &bytes)
      object.field("place", hit.place.text, &bytes)
    }
  }

  private static func fields(
    _ note: NoteSummary, _ object: inout JSONWriter.Object, _ bytes: inout [UInt8]
  ) {
    object.field("id", note.id.text, &bytes)
    object.field("title", note.title, &bytes)
    object.field("revision", note.revision, &bytes)
    object.field("createdAt", note.createdAt, &bytes)
    object.field("updatedAt", note.updatedAt, &bytes)
    if !note.folder.isNone { object.field("folder", note.folder.text, &bytes) }
  }

  /// Returns the findings about a machine.
  package static func findings(_ findings: [Doctor.Finding]) -> String {
    list("findings", findings) { finding, object, bytes in
      object.field("severity", finding.severity.rawValue, &bytes)
      object.field("subject", finding.subject, &bytes)
      object.field("text", finding.text, &bytes)
    }
  }

  /// Returns the findings about a configuration and its store.
  package static func check(_ report: CheckReport) -> String {
    text { object, bytes in
      list("settings", report.lines, &object, &bytes) { line, object, bytes in
        object.field("name", line.name, &bytes)
        object.field("value", line.value, &bytes)
        object.field("from", line.place, &bytes)
      }
      words("warnings", report.warnings, &object, &bytes)
      words("problems", report.problems, &object, &bytes)
      object.key("store", &bytes)
      JSONWriter.object(&bytes) { store(report, &$0, &$1) }
    }
  }

  /// Returns the result of a finished migration.
  package static func migration(_ report: StoreMigration.Report) -> String {
    text { object, bytes in
      object.field("from", report.source, &bytes)
      object.field("to", report.target, &bytes)
      object.field("notes", report.result.findings.notes, &bytes)
      object.field("changes", report.result.findings.entries, &bytes)
      object.field("publications", report.result.findings.publications, &bytes)
      object.field("revocations", report.revocations, &bytes)
      object.field("digest", report.result.digest, &bytes)
      object.key("rows", &bytes)
      JSONWriter.object(&bytes) { rows, bytes in
        for table in report.result.rows {
          rows.key(named: table.table, &bytes)
          JSONWriter.integer(table.count, &bytes)
        }
      }
    }
  }

  private static func store(
    _ report: CheckReport, _ object: inout JSONWriter.Object, _ bytes: inout [UInt8]
  ) {
    if !report.storeName.isEmpty { object.field("name", report.storeName, &bytes) }
    var problems: [String] = []
    switch report.store {
    case .unknown: object.field("state", "unknown", &bytes)
    case .missing: object.field("state", "missing", &bytes)
    case .sound(let findings):
      object.field("state", "sound", &bytes)
      object.field("notes", findings.notes, &bytes)
      object.field("changes", findings.entries, &bytes)
    case .damaged(let sentences):
      object.field("state", "damaged", &bytes)
      problems = sentences
    case .unreadable(let sentence):
      object.field("state", "unreadable", &bytes)
      problems = [sentence]
    }
    words("problems", problems, &object, &bytes)
  }

  /// Returns an object whose only field is a list of objects.
  private static func list<Element>(
    _ name: StaticString, _ elements: [Element],
    _ body: (Element, inout JSONWriter.Object, inout [UInt8]) -> Void
  ) -> String {
    text { list(name, elements, &$0, &$1, body) }
  }

  private static func list<Element>(
    _ name: StaticString, _ elements: [Element], _ object: inout JSONWriter.Object,
    _ bytes: inout [UInt8], _ body: (Element, inout JSONWriter.Object, inout [UInt8]) -> Void
  ) {
    object.key(name, &bytes)
    JSONWriter.array(elements, &bytes) { element, bytes in
      JSONWriter.object(&bytes) { body(element, &$0, &$1) }
    }
  }

  private static func words(
    _ name: StaticString, _ words: [String], _ object: inout JSONWriter.Object,
    _ bytes: inout [UInt8]
  ) {
    object.key(name, &bytes)
    JSONWriter.array(words, &bytes) { JSONWriter.string($0, &$1) }
  }

  /// Returns the object as JSON on one line, with a newline.
  static func text(_ body: (inout JSONWriter.Object, inout [UInt8]) -> Void) -> String {
    String(decoding: JSONWriter.object(body), as: UTF8.self) + "\n"
  }
}
