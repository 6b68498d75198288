import Gateway
import ParleyGatewayPorts
import ParleyGrowthKit
import SocketMessages

extension HostileSize {
  /// The maximum number of scalars of a text in a body.
  fileprivate var textScalarsMax: Int { bytesMax - 64 }
}

/// Work of the largest legal size, which must be accepted and takes several turns.
extension HostileInput {
  /// Returns a text with a number of bytes.
  private static func text(of piece: String, _ byteCount: Int) -> String {
    String(repeating: piece, count: byteCount / piece.utf8.count)
  }

  private static let headers = ["authorization": "Bearer all", "content-type": "text/plain"]

  private static func put(_ text: String, _ rig: TimedRig, query: String = "") {
    rig.request(
      "PUT", "/api/notes/d/text", query: query, headers: headers, Array(text.utf8))
  }

  private static func join(_ rig: TimedRig, formats: Bool = false) -> ConnectionID {
    let client = rig.open()
    rig.receive(#"{"messageId":"h","type":"hello","data":{"name":"n","token":"all"}}"#, on: client)
    rig.receive(
      #"{"messageId":"j","type":"join","data":{"documentId":"d","formats":\#(formats)}}"#,
      on: client)
    return client
  }

  private static func joinWhaler(_ rig: TimedRig) {
    let client = rig.open(.whaler(pool: nil), token: TimedRig.token)
    rig.receive(
      #"{"messageId":"j","type":"resourceConnection","data":{"resourceId":"d"}}"#, on: client)
  }

  private static let pieces = ["abcdefg\n", "\u{1}", "\"", "é", "😀"]

  private static let replacing = HostileInput("a whole text by PUT") { size, measure in
    let scalars = size.textScalarsMax
    let former = text(of: "The quick brown fox\n", scalars)
    let texts: [(String, String)] =
      pieces.map { ("another text of \($0.debugDescription)", text(of: $0, scalars)) } + [
        (
          "one letter in the middle",
          former.prefix(scalars / 2) + "x" + former.suffix(scalars / 2 - 8)
        ),
        ("every second letter", text(of: "TxexqxixkxbxoxnxfxxX", scalars)), ("no text", ""),
      ]
    for (name, text) in texts {
      measure(name) { rig in
        _ = join(rig)
        joinWhaler(rig)
        put(former, rig)
        rig.begin()
        put(text, rig)
      }
      measure("onto a base: " + name) { rig in
        _ = join(rig)
        put(former, rig)
        put(former + "x", rig)
        rig.begin()
        put(text, rig, query: "base=1")
      }
    }
  }

  private static let reading = HostileInput("reading a whole text") { size, measure in
    for piece in pieces {
      let text = text(of: piece, size.textScalarsMax)
      measure("join a text of \(piece.debugDescription)") { rig in
        put(text, rig)
        rig.begin()
        _ = join(rig)
      }
      measure("join of the Whaler family, \(piece.debugDescription)") { rig in
        put(text, rig)
        rig.begin()
        joinWhaler(rig)
      }
      for type in ["application/json", "text/plain"] {
        measure("GET as \(type) of \(piece.debugDescription)") { rig in
          put(text, rig)
          rig.begin()
          rig.request(
            "GET", "/api/notes/d/text", headers: ["authorization": "Bearer all", "accept": type])
        }
      }
    }
  }

  private static let comparing = HostileInput("comparing two whole texts") { size, measure in
    for piece in pieces {
      let texts = [
        text(of: piece, size.textScalarsMax), text(of: "x" + piece, size.textScalarsMax),
      ]
      measure("of \(piece.debugDescription)") { rig in
        for text in texts { put(text, rig) }
        for to in [1, 2] {
          rig.begin()
          rig.request(
            "GET", "/api/notes/d/diff", query: "from=0&to=\(to)",
            headers: ["authorization": "Bearer all"])
          rig.request(
            "GET", "/api/notes/d/diff", query: "from=1&to=2",
            headers: ["authorization": "Bearer all"])
        }
      }
    }
  }

  private static let changing = HostileInput("a change of 100,000 components") { size, measure in
    let scalars = size.textScalarsMax
    let count = Limits().operationComponentsMax / size.divisor
    for (name, piece) in [("insertions", #""a",1"#), ("deletions", "-1,1"), ("both", #""a",-1"#)] {
      let kept = name == "both" ? 0 : count / 2
      let rest = scalars - kept - (name == "insertions" ? 0 : count / 2)
      let operation =
        "[" + repeatElement(piece, count: count / 2 - 1).joined(separator: ",")
        + ",\(rest + (name == "both" ? 1 : name == "insertions" ? 1 : 2))]"
      measure(name + ", parley.v1") { rig in
        put(text(of: "a", scalars), rig)
        let client = join(rig)
        joinWhaler(rig)
        rig.begin()
        rig.receive(
          #"{"messageId":"c","type":"change","data":{"documentId":"d","epoch":"epoch of d","#
            + #""revision":1,"sequence":1,"operation":\#(operation)}}"#, on: client)
      }
      measure(name + ", HTTP") { rig in
        put(text(of: "a", scalars), rig)
        rig.begin()
        rig.request(
          "POST", "/api/notes/d/changes",
          headers: ["authorization": "Bearer all", "content-type": "application/json"],
          Array(#"{"revision":1,"operation":\#(operation)}"#.utf8))
      }
      measure(name + ", late by as many") { rig in
        put(text(of: "a", scalars), rig)
        let client = join(rig)
        rig.receive(
          #"{"messageId":"c","type":"change","data":{"documentId":"d","epoch":"epoch of d","#
            + #""revision":1,"sequence":1,"operation":\#(operation)}}"#, on: client)
        let other = join(rig)
        rig.begin()
        rig.receive(
          #"{"messageId":"c","type":"change","data":{"documentId":"d","epoch":"epoch of d","#
            + #""revision":1,"sequence":1,"operation":\#(operation)}}"#, on: other)
      }
    }
  }

  /// Formatting with as many components as a change may have, in its largest text.
  private static let formatting = HostileInput("formatting of 100,000 components") {
    size, measure in
    let scalars = size.textScalarsMax
    let spans = Limits().operationComponentsMax / size.divisor / 2 - 1
    func format(_ key: String, sets count: Int) -> String {
      let sets = (0..<count).map { #"{"\#(key)":\#($0)}"# }.joined(separator: ",")
      let kept = (0..<spans).map { "1,1,\($0 % count + 1)" }.joined(separator: ",")
      return #"{"kind":"rich","sets":[\#(sets)],"kept":[\#(kept)]}"#
    }
    func change(_ operation: String, _ format: String, at revision: Int, sequence: Int) -> String {
      #"{"messageId":"c","type":"change","data":{"documentId":"d","epoch":"epoch of d","#
        + #""revision":\#(revision),"sequence":\#(sequence),"operation":\#(operation),"#
        + #""format":\#(format)}}"#
    }
    func typed(at revision: Int) -> String {
      change("[\(scalars / 2),\"x\",\(scalars - scalars / 2)]", "{}", at: revision, sequence: 1)
    }
    let whole = "[\(scalars)]"
    for count in [1, min(1_000, spans)] {
      let first = change(whole, format("a", sets: count), at: 1, sequence: 1)
      /// Prepares a formatted text, and returns its author.
      func prepare(_ rig: TimedRig) -> ConnectionID {
        put(text(of: "a", scalars), rig)
        let author = join(rig, formats: true)
        rig.receive(first, on: author)
        return author
      }
      measure("\(count) sets") { rig in
        put(text(of: "a", scalars), rig)
        let author = join(rig, formats: true)
        _ = join(rig, formats: true)
        joinWhaler(rig)
        rig.begin()
        rig.receive(first, on: author)
      }
      measure("\(count) sets over as many, late") { rig in
        _ = prepare(rig)
        let other = join(rig, formats: true)
        rig.begin()
        rig.receive(change(whole, format("b", sets: count), at: 1, sequence: 1), on: other)
      }
      measure("a letter among \(count) sets") { rig in
        _ = prepare(rig)
        let others = [join(rig, formats: true), join(rig)]
        rig.begin()
        for other in others { rig.receive(typed(at: 2), on: other) }
      }
      measure("a letter before \(count) sets, late") { rig in
        _ = prepare(rig)
        let others = [join(rig, formats: true), join(rig)]
        rig.begin()
        for other in others { rig.receive(typed(at: 1), on: other) }
      }
      measure("join among \(count) sets") { rig in
        _ = prepare(rig)
        rig.begin()
        _ = join(rig, formats: true)
      }
      measure("another text among \(count) sets") { rig in
        _ = prepare(rig)
        rig.begin()
        put(text(of: "a", scalars / 2) + "x" + text(of: "a", scalars / 2 - 1), rig)
      }
      measure("the text before \(count) sets, restored") { rig in
        _ = prepare(rig)
        rig.begin()
        rig.request(
          "POST", "/api/notes/d/restore",
          headers: ["authorization": "Bearer all", "content-type": "application/json"],
          Array(#"{"revision":1}"#.utf8))
      }
    }
  }

  /// An insertion as long as a message, which is sent to all followers.
  private static let inserting = HostileInput("an insertion as long as a message") {
    size, measure in
    for piece in ["a", #"\u0001"#, #"\n"#, "é"] {
      let text = text(of: piece, size.bytesMax - 512)
      measure("of \(piece)") { rig in
        let client = join(rig)
        joinWhaler(rig)
        rig.begin()
        rig.receive(
          #"{"messageId":"c","type":"change","data":{"documentId":"d","epoch":"epoch of d","#
            + #""revision":0,"sequence":1,"operation":["\#(text)"]}}"#, on: client)
      }
    }
  }

  private static let listing = HostileInput("a list of 10,000 notes") { size, measure in
    let parts = ["parts=", "parts=" + String(repeating: "abcdefgh", count: 256), ""]
    for (name, query) in zip(["in parts", "in parts that the client lacks", "whole"], parts) {
      measure(name) { rig in
        rig.make(notes: 10_000 / size.divisor)
        rig.begin()
        let headers = ["authorization": "Bearer all", "accept-encoding": "gzip"]
        rig.request("GET", "/api/notes", query: query, headers: headers)
      }
    }
  }

  static let large = [replacing, reading, comparing, changing, formatting, inserting, listing]
}
