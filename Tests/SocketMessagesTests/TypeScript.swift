import SocketMessages

/// The messages' types in TypeScript.
enum TypeScript {
  /// The text of `Documentation/parley.v1.d.ts`.
  static var types: String {
    var text = """
      // The messages of parley.v1, made from their declarations in Sources/SocketMessages.
      // Documentation/Protocol.md says what they mean.

      /** Retains so many scalars (a positive number), deletes so many (a negative one), inserts (a text). */
      export type Operation = (number | string)[];

      """
    var written: Set<String> = []
    let client = ClientMessage.Kind.allCases.map { ($0.rawValue, $0.shape) }
    let server = ServerMessage.Kind.allCases.map { ($0.rawValue, $0.shape) }
    for (_, shape) in client + server {
      for case .object(let name, let fields) in shape?.objects ?? [] {
        if fields.isEmpty || !written.insert(name).inserted { continue }
        text += "\nexport interface \(self.name(name)) {\n"
        for field in fields { text += "  \(line(field));\n" }
        text += "}\n"
      }
    }
    text += "\n/** What clients send. */\n" + union("ClientMessage", client)
    text += "\n/** What servers send. */\n" + union("ServerMessage", server)
    return text
  }

  private static func union(_ name: String, _ kinds: [(String, MessageShape?)]) -> String {
    let cases = kinds.map { type, shape in
      let data = shape.map { self.type($0) } ?? "never"
      return "\n  | { messageId: string; type: \"\(type)\"; data: \(data) }"
    }
    return "export type \(name) =\(cases.joined());\n"
  }

  private static func line(_ field: MessageShape.Field) -> String {
    switch field.presence {
    case .required: "\(field.name): \(type(field.shape))"
    case .optional: "\(field.name)?: \(type(field.shape)) | null"
    case .nullable: "\(field.name): \(type(field.shape)) | null"
    }
  }

  private static func type(_ shape: MessageShape) -> String {
    switch shape {
    case .text: "string"
    case .integer, .milliseconds: "number"
    case .flag: "boolean"
    case .any: "unknown"
    case .operation: "Operation"
    case .run: "(number | Operation | Format)[]"
    case .pair: "[number, number]"
    case .word(let words): words.map { "\"\($0)\"" }.joined(separator: " | ")
    case .list(let element): "\(type(element))[]"
    case .object(let name, let fields): fields.isEmpty ? "{}" : self.name(name)
    }
  }

  /// `Receipt` as `ServerReceiptsItem`.
  private static func name(_ swift: String) -> String {
    swift.split(separator: ".").map { $0.hasSuffix("Message") ? $0.dropLast(7) : $0 }.joined()
  }
}
