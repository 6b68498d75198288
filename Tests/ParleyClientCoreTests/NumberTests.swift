import OTCore
import ParleyClientCore
import SocketMessages
import Testing

@Suite("Changes with numbers in place of ids")
struct NumberTests {
  private func numbers(_ authors: [ServerMessage.Author]) -> ServerMessage.Numbers {
    .init(document: 7, time: 1_000, authors: authors)
  }

  /// A client that has joined and was given numbers.
  private func rig(_ authors: [ServerMessage.Author] = []) -> Rig {
    var rig = Rig()
    rig.connect()
    rig.note(.open(nil))
    var joined = Rig.joined(.text("abc"), "e", 3, 0)
    joined.numbers = numbers(authors)
    rig.receive(.joined(joined), to: "join")
    return rig
  }

  private func change(
    _ author: Int, revision: Int, _ notation: String, document: Int = 7,
    authors: [ServerMessage.Author] = []
  ) -> ServerMessage {
    .numberedChanges(
      .init(
        run: .init(
          document: document, revision: revision, time: 5,
          changes: [.init(author: author, sequence: 1, operation: op(notation))]),
        authors: authors))
  }

  @Test("hello requests numbers unless the app disables them", arguments: [true, false])
  func hello(takes: Bool) {
    var rig = Rig { $0.takesNumbers = takes }
    rig.connect()
    guard case .hello(let hello)? = rig.sent.first?.message else {
      Issue.record("no hello")
      return
    }
    #expect(hello.takesNumbers == takes)
  }

  @Test("authors in the join and new authors are remembered")
  func authors() {
    var rig = rig([.init(number: 4, clientID: "B")])
    #expect(rig.receive(change(4, revision: 4, "+x =3")) == ["apply +x =3"])
    let ben = ServerMessage.Author(number: 5, clientID: "C")
    #expect(rig.receive(change(5, revision: 5, "+y =4", authors: [ben])) == ["apply +y =4"])
    #expect(rig.receive(change(5, revision: 6, "+z =5")) == ["apply +z =5"])
    #expect(rig.text == "zyxabc")
    // By its id and its time it resumes.
    _ = rig.reconnect()
    guard case .join(let join)? = rig.sent.last?.message else {
      Issue.record("no join")
      return
    }
    #expect(join.resume?.change == ChangeName(clientID: "C", sequence: 1, time: 1_005))
  }

  @Test("an own change with a number is its acknowledgement")
  func own() {
    var rig = rig([.init(number: 1, clientID: "A")])
    rig.note(.edit(op("=3 +d")))
    #expect(rig.receive(change(1, revision: 4, "=3 +d")).contains("live 0"))
    #expect(rig.text == "abcd")
  }

  @Test("an unknown number causes a rejoin with the edits")
  func unknownAuthor() {
    var rig = rig()
    rig.note(.edit(op("=3 +d")))
    let words = rig.receive(change(9, revision: 4, "+x =3"))
    #expect(words.prefix(2) == ["out of step", "> join n@e:3"])
    #expect(rig.text == "abcd")
    #expect(rig.status?.unconfirmed == 1)
  }

  @Test("the number of an unknown document is ignored")
  func unknownDocument() {
    var rig = rig()
    #expect(rig.receive(change(1, revision: 4, "+x =3", document: 8)) == [])
    var before = Rig()
    before.connect()
    before.note(.open(nil))
    #expect(before.receive(change(1, revision: 4, "+x =3")) == [])
  }

  @Test("numbers are discarded with the connection")
  func connection() {
    var rig = rig([.init(number: 4, clientID: "B")])
    _ = rig.reconnect()
    rig.resumed(revision: 3)
    #expect(rig.receive(change(4, revision: 4, "+x =3")) == [])
    #expect(rig.text == "abc")
  }

  @Test("the last authors are remembered, and extreme numbers do not trap")
  func edges() {
    let many = (1...ServerMessage.Author.numbersMax + 6).map {
      ServerMessage.Author(number: $0, clientID: "c\($0)")
    }
    var rig = rig(many)
    #expect(rig.receive(change(7, revision: 4, "+x =3")) == ["apply +x =3"])
    #expect(rig.receive(change(6, revision: 5, "+x =4")).first == "out of step")
    var other = self.rig(many)
    for revision in [Int.max, Int.min, 0, -1, 1 << 30] {
      other.receive(
        .numberedChanges(
          .init(
            run: .init(
              document: 7, revision: revision, time: .max,
              changes: [.init(author: many.count, sequence: .max, operation: op("+x =3"))]))))
    }
    #expect(other.text?.hasSuffix("abc") == true)
  }
}
