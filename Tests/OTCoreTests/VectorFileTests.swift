import FoundationEssentials
import OTCore
import ParleyOTWorkloads
import Testing

/// The files in Vectors, which its README describes.
@Suite("Vector files")
struct VectorFileTests {
  /// An operation in the notation of the files.
  private struct Written: Decodable {
    let operation: TextOperation

    init(from decoder: any Decoder) throws {
      var list = try decoder.unkeyedContainer()
      var operation = TextOperation()
      while !list.isAtEnd {
        if let text = try? list.decode(String.self) {
          operation.insert(text)
        } else {
          let count = try list.decode(Int.self)
          if count < 0 { operation.delete(-count) } else { operation.retain(count) }
        }
      }
      self.operation = operation
    }
  }

  /// Returns all cases of a file.
  private static func cases<Case: Decodable>(_ name: String, _: Case.Type) throws -> [Case] {
    let folder = String(#filePath.prefix(upTo: #filePath.lastIndex(of: "/") ?? #filePath.endIndex))
    let data = try Data(contentsOf: URL(filePath: "\(folder)/Vectors/\(name).jsonl"))
    let decoder = JSONDecoder()
    let cases = try data.split(separator: 0x0a).map { try decoder.decode(Case.self, from: $0) }
    #expect(cases.count > 10)
    return cases
  }

  private struct Transform: Decodable {
    let op: Written
    let otherOp: Written
    let side: String
    let result: Written
  }

  @Test(arguments: ["tie-break", "transform"])
  func transform(file: String) throws {
    for vector in try Self.cases(file, Transform.self) {
      let side: Side = vector.side == "left" ? .left : .right
      let op = vector.op.operation
      let other = vector.otherOp.operation
      #expect(try op.transformed(over: other, side: side) == vector.result.operation)
      #expect(try op.rebased(over: [other], side: side) == vector.result.operation)
    }
  }

  private struct Compose: Decodable {
    let op1: Written
    let op2: Written
    let result: Written
  }

  @Test(arguments: ["order", "compose"])
  func compose(file: String) throws {
    for vector in try Self.cases(file, Compose.self) {
      #expect(
        try vector.op1.operation.composed(with: vector.op2.operation) == vector.result.operation)
    }
  }

  private struct Apply: Decodable {
    let str: String
    let op: Written
    let result: String
  }

  @Test func apply() throws {
    for vector in try Self.cases("apply", Apply.self) {
      let op = vector.op.operation
      #expect(scalars(try op.applied(to: vector.str)) == scalars(vector.result))
      var document = Document(vector.str)
      try document.apply(op)
      #expect(document == Document(vector.result))
      try document.apply(op.inverted(on: Document(vector.str)))
      #expect(document == Document(vector.str))
    }
  }

  private struct Move: Decodable {
    let op: Written
    let cursor: Int
    let own: Bool
    let result: Int
  }

  @Test func cursor() throws {
    for vector in try Self.cases("cursor", Move.self) {
      let op = vector.op.operation
      #expect(Cursor.transformed(vector.cursor, over: op, own: vector.own) == vector.result)
      var cursors = [vector.cursor]
      Cursor.transform(&cursors, over: [op], own: vector.own)
      #expect(cursors == [vector.result])
    }
  }

  private struct Submissions: Decodable {
    struct Step: Decodable {
      let operation: Written
      let revision: Int
      let stored: Written
      let text: String
    }
    let text: String
    let steps: [Step]
  }

  @Test func server() throws {
    for vector in try Self.cases("server", Submissions.self) {
      var server = ServerSequencer(document: Document(vector.text), revision: 0)
      for step in vector.steps {
        let stored = try server.submit(step.operation.operation, at: step.revision)
        #expect(stored == step.stored.operation)
        #expect(server.document == Document(step.text))
      }
      #expect(server.revision == vector.steps.count)
    }
  }

  private struct Transcript: Decodable {
    struct Sent: Decodable {
      let sequence: Int
      let revision: Int
      let operation: Written
    }
    struct Step: Decodable {
      let event: String
      let operation: Written?
      let revision: Int?
      let sequence: Int?
      let apply: Written?
      let send: Sent?
      let text: String
      let unconfirmed: Int
    }
    let about: String
    let text: String
    let revision: Int
    let steps: [Step]
  }

  @Test func client() throws {
    for vector in try Self.cases("client", Transcript.self) {
      var client = ClientSynchronizer(epoch: "e", revision: vector.revision)
      var document = Document(vector.text)
      for (index, step) in vector.steps.enumerated() {
        let place: Comment = "\(vector.about), step \(index + 1)"
        var sent: ClientSynchronizer.Change?
        switch step.event {
        case "edit":
          let operation = try #require(step.operation).operation
          try document.apply(operation)
          sent = try client.edit(operation)
        case "receive":
          let local = try client.receive(
            #require(step.operation).operation, revision: #require(step.revision))
          #expect(local == step.apply?.operation, place)
          try document.apply(local)
        case "acknowledge":
          sent = try client.acknowledge(
            sequence: #require(step.sequence), revision: #require(step.revision))
        case "disconnect": client.disconnect()
        case "reconnect": sent = client.reconnect()
        case "refuse": try client.refuse(sequence: #require(step.sequence))
        case "release": sent = client.release()
        default: Issue.record("an unknown event: \(step.event)")
        }
        #expect(sent?.sequence == step.send?.sequence, place)
        #expect(sent?.revision == step.send?.revision, place)
        #expect(sent?.operation == step.send?.operation.operation, place)
        #expect(document == Document(step.text), place)
        #expect(client.unconfirmedCount == step.unconfirmed, place)
        // A stored and restored client continues with the same state, but without a connection.
        let restored = ClientSynchronizer(client.kept)
        #expect(restored.kept == client.kept, place)
      }
    }
  }

  private struct Session: Decodable {
    struct Arrival: Decodable {
      let client: Int
      let revision: Int
      let operation: TextOperation

      init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        client = try list.decode(Int.self)
        revision = try list.decode(Int.self)
        operation = try list.decode(Written.self).operation
      }
    }
    let about: String
    let text: String
    let arrivals: [Arrival]
    let result: String
    let scalars: Int
    let utf16: Int
    let utf8: Int
  }

  @Test func `sessions in many scripts give the recorded texts`() throws {
    for vector in try Self.cases("unicode-sessions", Session.self) {
      var server = ServerSequencer(document: Document(vector.text), revision: 0)
      for arrival in vector.arrivals {
        _ = try server.submit(arrival.operation, at: arrival.revision)
        server.document.checkInvariants()
      }
      let document = server.document
      #expect(document == Document(vector.result), "\(vector.about)")
      #expect(document.scalarCount == vector.scalars)
      #expect(document.utf16Count == vector.utf16)
      #expect(document.utf8Count == vector.utf8)
      // Each position in all three units, converted in both directions.
      var utf8 = 0
      var utf16 = 0
      for (place, scalar) in vector.result.unicodeScalars.enumerated() {
        #expect(document.utf8Offset(ofScalar: place) == utf8)
        #expect(document.utf16Offset(ofScalar: place) == utf16)
        #expect(document.scalarOffset(ofUTF8: utf8) == place)
        #expect(document.scalarOffset(ofUTF16: utf16) == place)
        utf8 += UTF8.width(scalar)
        utf16 += UTF16.width(scalar)
      }
    }
  }
}
