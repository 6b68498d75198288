import Foundation
import Gateway
import ParleyGatewayPorts
import ParleyJSON
import SocketMessages
import Testing

/// Compares the table of routes with the pages that describe the HTTP API, and finds routes by
/// path.
@Suite("Routes of the HTTP API")
struct RouteTests {
  private func page(_ path: String) throws -> [UInt8] {
    let root = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    return Array(try Data(contentsOf: root.appendingPathComponent(path)))
  }

  private static func name(_ route: Route) -> String { "\(route.method) \(route.path)" }

  // MARK: Pages

  /// An operation as `openapi.json` describes it.
  private struct Operation {
    let fields: JSONFields
    /// Parameters of the operation and of its path. Shared parameters are named by their reference.
    let parameters: [String]

    init(_ fields: JSONFields, of path: JSONFields) {
      self.fields = fields
      parameters = [fields, path].flatMap { $0["parameters"]?.elements ?? [] }.compactMap {
        let name = $0.fields?["name"]?.string ?? $0.fields?["$ref"]?.string
        return name?.split(separator: "/").last.map(String.init)
      }
    }

    var bodies: [String] {
      fields["requestBody"]?.fields?["content"]?.fields?.all.map(\.name) ?? []
    }

    /// Whether the operation needs no token.
    var isOpen: Bool { fields["security"]?.elements?.isEmpty ?? false }
  }

  private func described() throws -> [String: Operation] {
    let bytes = try page("Sources/CParleyAPIDescription/openapi.json")
    let paths = try #require(JSONFields(bytes)?["paths"]?.fields)
    var operations: [String: Operation] = [:]
    for path in paths.all {
      let item = try #require(path.value.fields)
      for operation in item.all where operation.name != "parameters" {
        operations["\(operation.name.uppercased()) \(path.name)"] = Operation(
          try #require(operation.value.fields), of: item)
      }
    }
    return operations
  }

  @Test("every route is described, and every description has a route")
  func description() throws {
    let names = Route.all.map(Self.name)
    #expect(Set(names).count == names.count, "no request is in the table twice")
    #expect(try described().keys.sorted() == names.sorted())
  }

  @Test("a route accepts what its description contains", arguments: Route.all.indices)
  func details(index: Int) throws {
    let route = Route.all[index]
    let operation = try #require(try described()[Self.name(route)])
    #expect(operation.bodies.first == route.body?.rawValue)
    #expect(operation.parameters.contains("ifMatch") == route.evaluatesIfMatch)
    let isOpen =
      switch route.right {
      case .nothing, .setting, .password, .refreshToken, .invitation, .reset, .link, .provider: true
      case .note, .notes, .newNote, .chosenNote, .folders, .room, .rooms, .person, .operatorKey:
        false
      }
    #expect(operation.isOpen == isOpen)
    // Each write is performed once under a key, except logging in.
    #expect(
      operation.parameters.contains("idempotencyKey") == (route.method != "GET" && !isOpen))
    let named = route.path.description.matches(of: /\{(\w+)\}/).map { String($0.1) }
    for name in named { #expect(operation.parameters.contains(name), "\(name)") }
  }

  @Test("the page about rights lists exactly the routes, each with its right")
  func rights() throws {
    let text = String(decoding: try page("Documentation/Authorisation.md"), as: UTF8.self)
    var needs: [String: String] = [:]
    for match in text.matches(of: /\n\| `([A-Z]+ \/[^`]*)`([^|]*)\| ([^|]*) \|/) {
      needs[String(match.1)] = String(match.3)
      // A row with several paths names the method once.
      for path in match.2.matches(of: /`(\/\w+)`/) { needs["GET \(path.1)"] = String(match.3) }
    }
    for route in Route.all {
      let row = needs.removeValue(forKey: Self.name(route))
      let stated = try #require(row, "\(route.path)")
      let words = Self.words(for: route.right)
      #expect(
        stated == words || stated.hasPrefix(words + ",") || stated.hasPrefix(words + " ")
          || stated.hasPrefix(words + ";"), "\(Self.name(route)): \(stated)")
    }
    // Requests of the page itself and of dialects are not in the table.
    for request in ["GET /", "GET /assets", "POST /private/pusher"] { needs[request] = nil }
    #expect(needs.keys.sorted() == [])
  }

  /// Returns a right in the page's words, without further conditions.
  private static func words(for right: Route.Right) -> String {
    func word(_ verbs: Verbs) -> String {
      Verbs.words.filter { verbs.isSuperset(of: $0.verbs) }.map { "`\($0.word)`" }
        .joined(separator: ", ")
    }
    return switch right {
    case .nothing: "nothing"
    case .setting: "what the setting"
    case .password: "a user's password"
    case .refreshToken: "a refresh token"
    case .invitation: "an invitation"
    case .reset: "a link"
    case .link: "the key of a link"
    case .provider: "a sign-in at the provider"
    case .note(let verbs), .chosenNote(let verbs): word(verbs)
    case .folders(let verbs): "\(word(verbs)) on all notes of both folders"
    case .notes(let verbs): "shows the notes with \(word(verbs))"
    case .newNote(let verbs): "\(word(verbs)) on the id that it will have:"
    case .room(let verbs): "\(word(verbs)) on the room"
    case .rooms(let verbs): "\(word(verbs)) on each room"
    case .person: "a person"
    case .operatorKey: "an operator's key"
    }
  }

  @Test("each route is found only at its path")
  func finding() {
    for route in Route.all {
      let path = route.path.description.replacing(/\{\w+\}/, with: "x")
      let match = RequestTarget(path)?.match
      #expect(match?.resource.routes.contains { Self.name($0) == Self.name(route) } ?? false)
      #expect(match?.resource.route(route.method)?.path == route.path)
    }
    for app in AppRequest.allCases {
      let path = app.rawValue.replacing(/\{\w+\}/, with: "x")
      guard case .app(app, _)? = RequestTarget(path) else { Issue.record("\(path)"); continue }
    }
    for request in PusherRequest.allCases {
      let path = request.rawValue.replacing(/\{\w+\}/, with: "x")
      guard case .pusher(request, _)? = RequestTarget(path) else {
        Issue.record("\(path)"); continue
      }
    }
    for path in [
      "", "/", "/api", "/api/", "/api/note", "/api/notesx", "/apis/notes", "/health/", "/Health",
      "/api/rooms/x", "/api/rooms/", "/api/users/x", "/api/users//disconnect",
      "/api/users/%zz/disconnect", "/api/users/x/other", "/api/connections/1",
      "/api/connections/1/2/disconnect", "/api/publish/", "/api/stats/now",
    ] {
      #expect(RequestTarget(path)?.match == nil, "\(path)")
    }
  }

  // MARK: Answers

  private let rig = GatewayRig(isDemo: true)

  @Test(
    "a room's name in a path may contain slashes",
    arguments: ["team%2Fred", "team/red", "team/red%20", "/group/g-1", "publish", "history"])
  func roomNames(path: String) throws {
    let name = try #require(PercentEncoding.decoded(path[...]))
    let body = rig.request("POST", "/api/rooms/\(path)/publish", #"{"data":1}"#).body
    var expected: [UInt8] = []
    JSONWriter.string(name, &expected)
    #expect(body.contains(#""room":\#(String(decoding: expected, as: UTF8.self))"#))
    #expect(rig.request("GET", "/api/rooms/\(path)/history").body.contains(#""offset":1"#))
  }

  @Test(
    "other methods of a path are refused with the allowed ones",
    arguments: [
      ("/api/notes", "GET, HEAD, POST"), ("/api/notes/n1", "GET, HEAD, PUT, PATCH, DELETE"),
      ("/api/notes/n1/text", "GET, HEAD, PUT"), ("/api/notes/n1/share", "GET, HEAD, POST, DELETE"),
      ("/api/notes/n1/versions/1", "DELETE"), ("/api/rooms/r/publish", "POST"),
      ("/api/rooms/r/history", "GET, HEAD"), ("/api/publish", "POST"),
    ])
  func methods(path: String, allowed: String) {
    let request = rig.begin("TRACE", path, headers: [:])
    #expect(rig.answer(request)?.status == 405)
    #expect(rig.response(request)?.headers.first { $0.name == "allow" }?.value == allowed)
  }

  @Test("there are no paths below a note or a room except those in the table")
  func below() {
    rig.make("n1")
    for path in ["/api/notes/n1/nothing", "/api/notes/n1/text/1", "/api/notes/n1/"] {
      let answer = rig.request("GET", path)
      #expect(answer.status == 404)
      #expect(answer.body.contains(#""code":"unknownDocument""#))
    }
    let answer = rig.request("GET", "/api/rooms/r/nothing")
    #expect(answer.status == 404)
    #expect(answer.body.contains(#""code":"unknownType""#))
  }

  @Test("a caller without the right to write is refused before the request is checked")
  func rightsFirst() {
    let rig = GatewayRig()
    rig.make("n1")
    let reader = rig.token("reader", [Grant(.documents, NamePattern("n1"), [.read])])
    for (method, path, status) in [
      ("GET", "text", 200), ("DELETE", "text", 403), ("GET", "changes", 405),
      ("PATCH", "versions", 403), ("POST", "history", 403), ("GET", "nothing", 404),
      ("POST", "nothing", 403),
    ] {
      #expect(
        rig.request(method, "/api/notes/n1/\(path)", token: reader).status == status,
        "\(method) \(path)")
    }
    #expect(rig.request("GET", "/api/notes/n2/text", token: reader).status == 403)
    #expect(rig.request("GET", "/api/rooms/r/publish", token: reader).status == 405)
    #expect(rig.request("GET", "/api/rooms/r/history", token: reader).status == 403)
    #expect(rig.request("DELETE", "/api/connections", token: reader).status == 403)
    #expect(rig.request("GET", "/api/publish", token: "nobody's").status == 405)
  }

  @Test(
    "numbers in a query are percent-decoded, too",
    arguments: [
      ("limit=2", 200), ("limit=%32", 200), ("limit=%30", 400),
      ("limit=", 400), ("limit", 400), ("limit=2%", 400), ("limit=%2", 400), ("limit=2+", 400),
      ("limit=%zz&limit=2", 400), ("limit=2&limit=x", 200), ("limit=-1", 400),
    ])
  func numbers(query: String, status: Int) {
    #expect(rig.request("GET", "/api/notes?\(query)").status == status)
  }

  @Test("the id of a note may equal a part of the API's paths")
  func noteNamedText() {
    for id in ["text", "changes", "share", "publish"] {
      let request = rig.begin(
        "PUT", "/api/notes/\(id)", headers: ["content-type": "application/json"],
        #"{"title":"T"}"#)
      #expect(rig.answer(request)?.status == 201, "\(id)")
    }
  }
}
